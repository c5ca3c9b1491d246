"""Files that users name, read with care: every one may be damaged, huge, or written by somebody else.

Whatever the bytes, these functions give data or a :class:`ReadError` that says where and what to do, in
bounded time and memory. Rooms that read files turn it into the error of their own.
"""

from fabriloom.reading.csvs import cell_place, check_header, named_rows, records
from fabriloom.reading.errors import Place, ReadError
from fabriloom.reading.jsons import json_data
from fabriloom.reading.texts import content, line_of, place_at, text_of

__all__ = [
    "Place",
    "ReadError",
    "cell_place",
    "check_header",
    "content",
    "json_data",
    "line_of",
    "named_rows",
    "place_at",
    "records",
    "text_of",
]

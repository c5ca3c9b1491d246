"""Reading files that users name; any of them may be damaged, huge or malicious.

For any bytes, these functions return data or raise a :class:`ReadError` with a place and advice, in bounded
time and memory. Rooms that read files convert it to their own error. `toml_text` is the way back.
"""

from fabriloom.reading.csvs import (
    THOUSANDS,
    Decimals,
    Heading,
    cell_place,
    check_header,
    headings,
    named_place,
    named_rows,
    records,
    separator,
    unclear_number,
    without_separator_line,
)
from fabriloom.reading.errors import DescriptionError, Place, ReadError, UserError
from fabriloom.reading.jsons import json_data
from fabriloom.reading.texts import UTF_16, content, line_of, lines, numbered_line, text_of
from fabriloom.reading.tomls import toml_text, toml_value

__all__ = [
    "THOUSANDS",
    "UTF_16",
    "Decimals",
    "DescriptionError",
    "Heading",
    "Place",
    "ReadError",
    "UserError",
    "cell_place",
    "check_header",
    "content",
    "headings",
    "json_data",
    "line_of",
    "lines",
    "named_place",
    "named_rows",
    "numbered_line",
    "records",
    "separator",
    "text_of",
    "toml_text",
    "toml_value",
    "unclear_number",
    "without_separator_line",
]

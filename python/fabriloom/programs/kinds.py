"""The codes of operations in the engine's columns, and their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fabriloom.codes import OPERATION

SEND: Final = OPERATION.SEND
RECEIVE: Final = OPERATION.RECEIVE
WAIT: Final = OPERATION.WAIT
UNTIL: Final = OPERATION.UNTIL
REPEAT: Final = OPERATION.REPEAT
END: Final = OPERATION.END
BARRIER: Final = OPERATION.BARRIER
MARK: Final = OPERATION.MARK
READ: Final = OPERATION.READ
FLUSH: Final = OPERATION.FLUSH

WORDS: Final = {
    **{"send": SEND, "receive": RECEIVE, "wait": WAIT, "compute": WAIT, "until": UNTIL, "repeat": REPEAT},
    **{"end": END, "barrier": BARRIER, "mark": MARK, "read": READ, "flush": FLUSH},
}

ANY: Final = 0xFFFF_FFFF
"""``op_peer`` and ``op_tag``: any sender, any tag; also a message without a tag."""
SENDER: Final = 0xFFFF_FFFE
"""``op_peer``: the sender of the message received last."""
TAGGED: Final = 0xFFFF_FFFD
"""``op_peer``: the terminal whose number is the tag of the message received last."""
SAME: Final = 0xFFFF_FFFE
"""``op_tag``: the tag of the message received last."""
SENDER_NUMBER: Final = 0xFFFF_FFFD
"""``op_tag``: the terminal number of the sender of the message received last."""
TURN: Final = 0xFFFF_FFFC
"""``op_tag``: the number of the terminal's latest request.

A send with this tag is repeated, at most ``size_bytes`` times, while the receive after it, which has the same
tag, gets no answer within its ``amount``."""
FIRST_SPECIAL: Final = 0xFFFF_FFFC

NEVER: Final = 0xFFFF_FFFF
"""``event_fragments`` of numbers that are not events."""

MOST_BYTES: Final = 2**31 - 1
MOST_DEEP: Final = 4
MOST_TAG: Final = 2**31
MOST_STREAMS: Final = 256
MOST_OPERATIONS: Final = 2**25
"""Limit of the table of operations, about one gigabyte."""
MOST_OF_TRACE: Final = 2**27
"""The same for traces in GOAL, whose table is held once: about eleven gigabytes."""

Ints = NDArray[np.int64]
Column = NDArray[Any]
"""Whole numbers of a kind that holds them; sizes and times have a sign."""
Columns = dict[str, NDArray[Any]]
Settings = Mapping[str, Any]
Needs = tuple[Column, Column]
"""What operations wait for, one after another, and where that of each begins, and last the end of all.

Each is an operation, counted from the first of its program, times 2; plus 1 if only for its beginning."""

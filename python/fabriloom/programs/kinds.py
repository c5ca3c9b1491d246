"""Numbers of operations in the engine's columns, and their words."""

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
    "send": SEND,
    "receive": RECEIVE,
    "wait": WAIT,
    "compute": WAIT,
    "until": UNTIL,
    "repeat": REPEAT,
    "end": END,
    "barrier": BARRIER,
    "mark": MARK,
    "read": READ,
    "flush": FLUSH,
}

ANY: Final = 0xFFFF_FFFF
"""``op_peer`` and ``op_tag``: whoever, whatever; of a message without a tag."""
SENDER: Final = 0xFFFF_FFFE
"""``op_peer``: the sender of the message received last."""
TAGGED: Final = 0xFFFF_FFFD
"""``op_peer``: the terminal whose number is the tag of that message."""
SAME: Final = 0xFFFF_FFFE
"""``op_tag``: the tag of that message."""
SENDER_NUMBER: Final = 0xFFFF_FFFD
"""``op_tag``: the number of its sender."""
TURN: Final = 0xFFFF_FFFC
"""``op_tag``: the number of what the terminal asked last. A send with it is done again while the receive
behind it, which has it too, gets no answer within its ``amount``: ``size_bytes`` times at most."""
FIRST_SPECIAL: Final = 0xFFFF_FFFC

NEVER: Final = 0xFFFF_FFFF
"""``event_fragments`` of numbers that are no events."""

MOST_BYTES: Final = 2**31 - 1
MOST_DEEP: Final = 4
MOST_TAG: Final = 2**31
MOST_OPERATIONS: Final = 2**25
"""The largest table of operations that is made, some gigabyte."""

Ints = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]
Settings = Mapping[str, Any]

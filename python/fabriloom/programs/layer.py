"""The message-passing layer over remote writes: data, a control word, and the next address in return.

As in the ATLAS SCI components paper, section 2: the sender writes the data, then a control word with the size
of the message; the receiver answers with the address for the next message. The next message to this receiver
waits for that address; the first address is given before the program begins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabriloom.programs import kinds as op
from fabriloom.programs.check import fail
from fabriloom.programs.table import ProgramError, Programs

CONTROL_TAG = 2**31 + 1
"""Tag of control words. A receive without a tag takes no message with a tag of the layer."""
ADDRESS_TAG = 2**31 + 2
"""Tag of answers with the next address."""


def control_words(programs: Programs, protocol: op.Settings) -> Programs:
    """Return the same programs with three messages for every message.

    A send becomes: receive the address, send the data, send the control word. A receive becomes: receive the
    data, receive the control word, send the next address.
    """
    _only_named(programs)
    sends, receives = programs.kind == op.SEND, programs.kind == op.RECEIVE
    copies = np.where(sends | receives, 3, 1)
    row = np.repeat(np.arange(programs.rows), copies)
    part = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    sends, receives = sends[row], receives[row]
    peer, tag, kind = programs.peer[row], programs.tag[row], programs.kind[row]
    size = programs.size_bytes[row]
    address, control = sends & (part == 0), (sends & (part == 2)) | (receives & (part == 1))
    answer = receives & (part == 2)
    kind = np.where(address, op.RECEIVE, np.where(answer, op.SEND, kind))
    size = np.where(address, 0, np.where(sends & control, protocol["control_word_bytes"], size))
    size = np.where(answer, protocol["next_address_bytes"], size)
    tag = np.where(address | answer, ADDRESS_TAG, np.where(control, CONTROL_TAG, tag))
    anybody = peer >= op.FIRST_SPECIAL
    peer = np.where(receives & (part > 0) & anybody, op.SENDER, peer)
    places = [programs.places[int(one)] for one in row] if programs.places else ()
    body = replace(
        programs,
        terminal=programs.terminal[row],
        kind=kind,
        peer=peer,
        size_bytes=size,
        tag=tag,
        amount=programs.amount[row],
        places=places,
        where=None,
    )
    return _with_first_addresses(body, programs, protocol["next_address_bytes"])


def _only_named(programs: Programs) -> None:
    """Refuse operations that depend on the message received last, which would be another one, and graphs."""
    if programs.needs is not None or programs.stream is not None:
        message = (
            "programs that are graphs, or have several streams, cannot go through the layer control-word"
        )
        raise ProgramError(message, None, "leave the layer out")
    special = ((programs.peer == op.SENDER) | (programs.peer == op.TAGGED)) & (programs.kind != op.MARK)
    odd = np.flatnonzero(special | (programs.tag == op.SAME) | (programs.tag == op.SENDER_NUMBER))
    if len(odd):
        row = int(odd[0])
        message = f'"{programs.text(row)}" cannot go through the layer control-word'
        fail(programs, row, message, "name terminal and tag, or leave the layer out")


def _with_first_addresses(body: Programs, programs: Programs, size_bytes: int) -> Programs:
    """Put in front of each program an address for every terminal that sends to it."""
    active = programs.kind == op.SEND
    pairs = np.unique(np.stack([programs.peer[active], programs.terminal[active]]), axis=1)
    receiver, sender = pairs
    return body.with_rows(
        body.start[receiver], receiver, op.SEND, peer=sender, size_bytes=size_bytes, tag=ADDRESS_TAG
    )

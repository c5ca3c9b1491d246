"""Which setting of the T9000s' programs each part of the paper is run with.

The paper does not say how the occam programs used virtual links, and no one setting fits all of its parts, so
each is named here: messages that a source has under way, virtual links from one T9000 to another (packets of
one source and destination under way, for a virtual link has one), and messages that a destination takes at a
time.
"""

from __future__ import annotations

from typing import Any

Setting = dict[str, Any]


def setting(messages: int, links_per_pair: int, receives: int) -> Setting:
    """Settings of ``[protocol]``."""
    return {
        "messages_at_once": messages,
        "packets_per_channel": links_per_pair,
        "receive_at_once": receives,
    }


TWO_NODES = setting(1, 1, 1)
PIPELINED: Setting = {
    "acknowledge_from": "end",
    "ack_time": "0 ns",
    "resume_time": "0 ns",
    "send_gap_time": "4571 ns",
    "receive_gap_time": "4571 ns",
}
"""The other reading of 7.0 MB/s: a T9000 is occupied for so long with every packet, one after the other, and
passes it on meanwhile; the next one waits, not this one. 32 B in that time are what was measured."""
FIXED_PAIRS = setting(1, 2, 2)
"""Through three switches one virtual link carries less than the 5.1 MB/s per source that were measured."""
RANDOM_PAIRS = setting(1, 1, 1)
LEVEL_2 = setting(1, 2, 2)
"""As for fixed pairs, which sources in turn are."""
LEVEL_3 = setting(1, 1, 1)


def on_all_links(one: Setting, links: int = 4) -> Setting:
    """The same on each of the four links of a T9000: windows of the terminal are as many times as wide, those
    of a virtual link are as they were.
    """
    return one | {name: links * one[name] for name in ("messages_at_once", "receive_at_once")}


def multiplexed(virtual_links: int) -> Setting:
    """Figure 8: this many messages of a source under way, each on a virtual link of its own."""
    return setting(virtual_links, 1, 2) | {"channels_at_once": virtual_links}

"""Settings of the T9000s' programs for each part of the paper.

The paper does not say how the occam programs used virtual links, and no single setting fits all parts. So
each part has its own: messages that a source has under way, virtual links from one T9000 to another (each has
one packet under way), and messages that a destination receives at a time.
"""

from __future__ import annotations

from typing import Any

Setting = dict[str, Any]


def setting(messages: int, links_per_pair: int, receives: int) -> Setting:
    """Return settings of ``[protocol]``."""
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
"""The other reading of 7.0 MB/s: every packet occupies a T9000 for this time, and is passed on meanwhile; the
next packet waits, not this one. The measured rate is 32 B per this time."""
FIXED_PAIRS = setting(1, 2, 2)
"""Through three switches, one virtual link carries less than the measured 5.1 MB/s per source."""
RANDOM_PAIRS = setting(1, 1, 1)
LEVEL_2 = setting(1, 2, 2)
"""As for fixed pairs, which sources in turn form."""
LEVEL_3 = setting(1, 1, 1)


def on_all_links(one: Setting) -> Setting:
    """Return the setting for each of the four links of a T9000.

    The windows of the terminal grow by four; those of a virtual link do not.
    """
    return one | {name: 4 * one[name] for name in ("messages_at_once", "receive_at_once")}


def multiplexed(virtual_links: int) -> Setting:
    """Return the setting of figure 8: a source's messages under way, each on its own virtual link."""
    return setting(virtual_links, 1, 2) | {"channels_at_once": virtual_links}

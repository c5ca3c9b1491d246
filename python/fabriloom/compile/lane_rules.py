"""Frames, priorities, reservations and tables of lanes: their columns, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..routing import NONE
from ..technology import Technology
from ..technology.lanes import LIMIT_BYTES, NO_LIMIT, WEIGHT_BYTES
from ..technology.model import Ps
from .columns import Arrays, u32


def lane_rules(tech: Technology, tick: Ps) -> Arrays:
    """Return the columns of lanes that do more than take turns; none for others."""
    rules, found = tech.lane_rules, dict[str, Any]()
    if rules.frame_chars:
        found["lane_frame_chars"] = rules.frame_chars
    if rules.priority:
        found["lane_priority"] = np.array(rules.priority, np.uint8)
    if rules.reserved:
        found["lane_share_millionths"] = u32(rules.reserved_millionths)
        found["lane_credit_limit_ticks"] = rules.credit_limit_chars * tech.character_ps() // tick
    if rules.slots:
        found["lane_slots"] = np.array(rules.slot_bits, np.uint64)
        found["lane_slot_ticks"] = rules.slot_chars * tech.character_ps() // tick
    if tech.lane_arbiter == "weighted":
        high, low = rules.tables
        lane, weight = zip(*high, *low, strict=True)
        limit = rules.high_limit * LIMIT_BYTES // tech.character_bytes
        found["lane_table_lane"] = u32(lane)
        found["lane_table_chars"] = u32(weight) * np.uint32(WEIGHT_BYTES // tech.character_bytes)
        found["lane_table_high"] = len(high)
        found["lane_high_limit_chars"] = NONE if rules.high_limit == NO_LIMIT else limit
    return found


def promised(tech: Technology) -> list[str]:
    """Return a warning if more is reserved than a wire has."""
    total = sum(tech.lane_rules.reserved_millionths)
    if total <= 10**6:
        return []
    return [
        f"lane_reserved promises {total / 1e4:g} % of a link to its lanes: when all of them send, some get "
        "less than is reserved for them; reserve 100 % at most"
    ]

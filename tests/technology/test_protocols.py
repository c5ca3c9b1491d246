"""Presets of protocols: every number with its source, and what cannot be."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

import pytest
from fabriloom.scenario.sections.protocol import Protocol as Section
from fabriloom.technology import TechnologyError, protocol
from fabriloom.technology.presets import KINDS
from fabriloom.technology.protocols import protocols


def test_the_schema_knows_every_preset() -> None:
    assert set(get_args(Section.model_fields["preset"].annotation)) == set(protocols())


@pytest.mark.parametrize("name", ["raw", "virtual-link", "pio", "dma"])
def test_every_setting_has_a_source(name: str) -> None:
    found = protocols()[name]
    beside = ("preset", "transaction", "by_size", "preset_file")  # that no preset has
    settings = {n for n in Section.model_fields if n not in beside}
    assert set(asdict(protocol(name))) == {*settings, "preset"}
    for entry in found.entries.values():
        assert entry.kind in KINDS
        assert entry.source


def test_a_virtual_link_is_that_of_the_t9000() -> None:
    found = protocol("virtual-link")
    assert (found.packet_bytes, found.packets_per_channel, found.acknowledge) == (32, 1, "packet")


def test_small_packets_follow_the_others() -> None:
    """A packet size alone is meant for all, where the preset has none of its own for small messages."""
    assert protocol("raw", {"packet_bytes": 1000}).small_packet_bytes == 1000
    assert protocol("pio", {"packet_bytes": 256}).small_packet_bytes == 16
    assert protocol("pio", {"packet_bytes": 8}).small_packet_bytes == 8


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("raw", {"small_packet_bytes": 128}, "small_packet"),
    ("raw", {"receive_at_once": 1}, "receive_at_once"),
    ("pio", {"acknowledge_from": "head"}, "acknowledge_from"),
    ("raw", {"bit_error_rate": 1e-9}, "bit_error_rate"),
]


@pytest.mark.parametrize(("name", "overrides", "parameter"), WRONG)
def test_contradictions_are_refused(name: str, overrides: dict[str, Any], parameter: str) -> None:
    with pytest.raises(TechnologyError) as caught:
        protocol(name, overrides)
    assert caught.value.parameter == parameter

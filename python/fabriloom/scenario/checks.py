"""Checks of a scenario across fields, beyond the type of each field."""

from __future__ import annotations

import stat
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, cast

from fabriloom import units
from fabriloom.scenario.check_kinds import check_kind
from fabriloom.scenario.errors import Path
from fabriloom.scenario.resolve import CODE_SETTINGS, FAULT_SETTINGS, checksum, files, listed
from fabriloom.scenario.schema import CODES, Scenario
from fabriloom.scenario.sections.routing import (
    AfterFault,
    AnyRouting,
    DimensionOrder,
    Interval,
    Lash,
    Paths,
    TrafficClass,
    Ugal,
    Valiant,
)
from fabriloom.scenario.sections.run import has_ports
from fabriloom.scenario.sections.technology import Generic
from fabriloom.scenario.sections.topology import GraphFile
from fabriloom.scenario.sections.traffic import (
    Backlog,
    Burst,
    Descriptors,
    Flows,
    Local,
    Map,
    Matrix,
    OnOff,
    Permutation,
    RandomWait,
    TableLength,
    Traffic,
    UniformLength,
    Wait,
)
from fabriloom.technology.presets import settings

if TYPE_CHECKING:
    from fabriloom.scenario.sections.ring_technology import RingLinks
    from fabriloom.scenario.sections.run import Fault


def check(scenario: Scenario) -> None:
    """Raise a :class:`ScenarioError` for settings that contradict each other."""
    _run(scenario)
    check_kind(scenario)
    _ports(scenario)
    _program(scenario)
    _lengths(scenario)
    _pattern(scenario)
    _load(scenario)
    _rate(scenario)
    _routing(scenario)
    _faults(scenario)
    check_codes(scenario)
    _files(scenario)


def _run(scenario: Scenario) -> None:
    run = scenario.run
    if isinstance(run.warmup_ps, int) and run.warmup_ps >= run.duration_ps:
        hint = "duration includes the warm-up: make it longer, or the warm-up shorter"
        raise scenario.error("run.warmup leaves nothing of run.duration to measure", ("run", "warmup"), hint)


def _ports(scenario: Scenario) -> None:
    """Check that ``[ports]`` is given only where terminals have several ports."""
    of_file = isinstance(scenario.topology, GraphFile)
    if scenario.ports is not None and not has_ports(scenario.topology) and not of_file:
        message = "[ports] chooses among the ports of a terminal, and here every terminal has one"
        hint = "add for example replicate = 2 to [topology], or remove the section"
        raise scenario.error(message, ("ports",), hint, key=True)
    if scenario.ports is None or scenario.ports.per is None:
        return
    if scenario.program is None:
        message = "per says what of a message gets a port, and traffic has no messages: each packet gets one"
        raise scenario.error(message, ("ports", "per"), "remove it")
    if scenario.spreads_messages and scenario.protocol is not None and scenario.protocol.check_time_ps:
        message = "a message that is checked as a whole goes by one port"
        hint = 'write per = "message", or protocol.check_time = "0 s"'
        raise scenario.error(message, ("ports", "per"), hint)


def _program(scenario: Scenario) -> None:
    """Check what traffic stands beside a program, and that a protocol comes with one."""
    protocol = scenario.protocol
    if scenario.program is None:
        if protocol is not None:
            message = "a protocol without a program has no effect: traffic is sent packet by packet"
            raise scenario.error(message, ("protocol",), "add [program], or remove the section", key=True)
        if scenario.output.messages:
            message = "only programs send messages; traffic sends packets"
            raise scenario.error(message, ("output", "messages"), "write trace = true for every packet")
        return
    if scenario.has_traffic:
        _beside(scenario)


def _beside(scenario: Scenario) -> None:
    """Check that traffic beside a program has sources that wait for nothing, and its transactions."""
    traffic, path = scenario.traffic, ("traffic",)
    if traffic.transaction not in (None, scenario.transaction):
        message = f'beside a program, packets are of its transaction, "{scenario.transaction}"'
        hint = "remove it, or write the same as protocol.transaction, nwrite or dmove"
        raise scenario.error(message, ("traffic", "transaction"), hint)
    if not (traffic.is_open() or traffic.needs_load()):
        message = "beside a program, traffic is made at given times: it waits for nothing"
        raise scenario.error(message, path, "give a load, a rate or flows, or remove [program]", key=True)
    if traffic.source_queue not in (None, 0):
        message = "beside a program, packets of traffic wait without limit"
        raise scenario.error(message, ("traffic", "source_queue"), "remove it", key=True)


def _lengths(scenario: Scenario) -> None:
    length = scenario.traffic.length
    path: Path = ("traffic", "length")
    if isinstance(length, UniformLength) and length.min_bytes > length.max_bytes:
        raise scenario.error("traffic.length.min is above max", (*path, "min"), "exchange the two")
    if isinstance(length, TableLength) and length.weights is not None:
        if len(length.weights) != len(length.lengths_bytes):
            message = f"{len(length.weights)} weights for {len(length.lengths_bytes)} lengths"
            raise scenario.error(message, (*path, "weights"), "give one weight for each length")
        if not sum(length.weights) > 0:
            raise scenario.error("all weights are zero", (*path, "weights"), "give at least one above zero")


def _pattern(scenario: Scenario) -> None:
    pattern = scenario.traffic.pattern
    if isinstance(pattern, Permutation | Map):
        given = [name for name in ("map", "path", "random") if getattr(pattern, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) if given else "none of them"
            message = f"a {pattern.kind} takes one of map, path and random; found {found}"
            hint = "keep one" if given else "write one, such as random = true"
            raise scenario.error(message, ("traffic", "pattern"), hint)
        if pattern.seed is not None and given != ["random"]:
            message = f"seed is for a random {pattern.kind}"
            raise scenario.error(message, ("traffic", "pattern", "seed"), "remove it")
    if isinstance(pattern, Flows) and (pattern.path is None) == (pattern.flows is None):
        message = "traffic of flows takes either flows or the path of a file"
        hint = 'write path = "flows.csv", or [[traffic.pattern.flows]]'
        raise scenario.error(message, ("traffic", "pattern"), hint)
    if isinstance(pattern, Matrix) and pattern.unit is not None and pattern.rows != "equal":
        message = "rates say how much each sender offers; rows are of weights"
        raise scenario.error(message, ("traffic", "pattern", "rows"), "remove rows, or remove the unit")
    if isinstance(pattern, Local):
        if pattern.map is not None and pattern.random is not None:
            message = "local traffic takes partners from map or from random, not both"
            raise scenario.error(message, ("traffic", "pattern"), "keep one")
        if pattern.seed is not None and pattern.random is None:
            raise scenario.error("seed is for random partners", ("traffic", "pattern", "seed"), "remove it")


def _load(scenario: Scenario) -> None:
    traffic = scenario.traffic
    if traffic.load is None:
        return
    if traffic.needs_load():
        arrivals = traffic.arrivals
        if isinstance(arrivals, OnOff) and traffic.load > arrivals.on_load:
            message = (
                f"traffic.load of {traffic.load} is above the on_load of {arrivals.on_load} within bursts"
            )
            raise scenario.error(message, ("traffic", "load"), "reduce load, or raise arrivals.on_load")
        return
    # A study may set the arrivals of a file that has a load; only what one author wrote is a contradiction.
    paths = {override.path for override in scenario.source.overrides} - {("traffic", "load")}
    if any(path[0] == "traffic" for path in paths):
        return
    if traffic.rate is not None:
        message, hint = "traffic.load and traffic.rate say the same in two ways", "keep one"
        raise scenario.error(message, ("traffic", "load"), hint)
    message = f"traffic.load has no effect: {_other_times(traffic)}"
    raise scenario.error(message, ("traffic", "load"), "remove it")


def _other_times(traffic: Traffic) -> str:
    """Return what besides a load or a rate says when packets are sent; empty if nothing does."""
    pattern = traffic.pattern
    if isinstance(pattern, Descriptors | Flows):
        return f"the {pattern.kind} say when packets are sent"
    if isinstance(pattern, Matrix) and pattern.unit is not None:
        return "the matrix has rates"
    if isinstance(traffic.arrivals, Backlog | Wait | RandomWait | Burst):
        return f"arrivals of kind {traffic.arrivals.kind} say when packets are sent"
    return ""


def _rate(scenario: Scenario) -> None:
    """Check that a rate and a scale have something to apply to."""
    traffic = scenario.traffic
    if traffic.rate is not None and (reason := _other_times(traffic)):
        hint = "remove it, or choose other arrivals" if "arrivals" in reason else "remove it"
        raise scenario.error(f"traffic.rate has no effect: {reason}", ("traffic", "rate"), hint)
    if traffic.scale is not None and not traffic.is_rated():
        message = "traffic.scale is of rates: this traffic has none"
        hint = "give a rate, a matrix with a unit or flows; or a load"
        raise scenario.error(message, ("traffic", "scale"), hint)


def _routing(scenario: Scenario) -> None:
    routing, topology = scenario.routing, scenario.topology.kind
    if (
        isinstance(routing, DimensionOrder)
        and routing.variant
        and topology not in ("torus", "ring", "file", "inline")
    ):
        message = f"routing.variant is for a torus or a ring, not for {topology}"
        raise scenario.error(message, ("routing", "variant"), "remove it")
    for place, one in enumerate(getattr(routing, "traffic_class", None) or []):
        _traffic_class(scenario, ("routing", "traffic_class", place), one)
    if not isinstance(routing, AnyRouting):
        return
    if routing.after_fault is not None:
        _after_fault(scenario, routing, routing.after_fault)


def _traffic_class(scenario: Scenario, path: Path, one: TrafficClass) -> None:
    """Check that a class says whose packets are of it, and what they have of their own."""
    if one.senders is None and one.to is None:
        message, hint = "a traffic class of all packets is none", 'write from = ["…"], or to = ["…"]'
        raise scenario.error(message, path, hint, key=True)
    if one.lanes is None and one.ports is None:
        message = "a traffic class has lanes or ports of its own"
        raise scenario.error(message, path, "write lanes = [0], or ports = [0]", key=True)


_NOT_REPLACED = {
    "interval_labelling": ("interval labels", "switches with tables have none: remove the labels"),
    "distribution": ("packet distribution", "remove one of them"),
    "bubble": ('lane_choice = "bubble"', 'write lane_choice = "dateline"'),
    "escape-with-room": ('lane_choice = "escape-with-room"', 'write lane_choice = "escape"'),
}
"""Settings that cannot be combined with replaced routing tables, in words, and what to write instead."""


def _after_fault(scenario: Scenario, routing: AnyRouting, after: AfterFault) -> None:
    """Check that tables are replaced only with faults, and only by routings that suit any graph."""
    path: Path = ("routing", "after_fault")
    if (after.kind == "table") != (after.path is not None):
        message = 'a table after a fault has kind = "table" and the path of its file'
        raise scenario.error(message, path, 'write both, or a kind such as "shortest-path" alone')
    if after.path is not None and (routing.universal or isinstance(routing, Valiant | Ugal)):
        message = "a table of your own leads packets to no random switch"
        raise scenario.error(message, (*path, "kind"), 'write kind = "auto"')
    escapes = routing.lane_choice == "escape"
    if escapes and after.kind not in ("auto", "up-star-down-star"):
        message = f'after a fault packets escape by up*/down*, not by "{after.kind}"'
        raise scenario.error(message, (*path, "kind"), 'write kind = "auto"')
    _new_levels(scenario, routing, after)
    in_the_way = {
        "interval_labelling": routing.interval_labelling or isinstance(routing, Interval),
        "distribution": bool(routing.distribution),
        "lane_choice": routing.lane_choice in _NOT_REPLACED,
    }
    for name in (name for name, is_set in in_the_way.items() if is_set):
        what, hint = _NOT_REPLACED[str(routing.lane_choice) if name == "lane_choice" else name]
        message = f"tables are not replaced after a fault with {what}"
        place = (*path[:1], name) if name in scenario.raw["routing"] else path
        raise scenario.error(message, place, hint, key=True)


def _new_levels(scenario: Scenario, routing: AnyRouting, after: AfterFault) -> None:
    """Check that packets have levels before they have new ones, and that nothing else divides the lanes."""
    path: Path = ("routing", "after_fault")
    if after.kind == "lash" and after.service_levels is not None:
        message = "lash makes service levels itself"
        hint = "remove them, or write another kind"
        raise scenario.error(message, (*path, "service_levels"), hint, key=True)
    is_new = after.kind == "lash" or after.service_levels is not None
    if is_new and not (isinstance(routing, Lash) or routing.service_levels is not None):
        message = "new service levels are for packets that have some from the start"
        hint = 'write routing.kind = "lash", or routing.service_levels'
        raise scenario.error(message, (*path, "kind" if after.kind == "lash" else "service_levels"), hint)
    others = {
        f'lane_choice = "{routing.lane_choice}"': routing.lane_choice in ("escape", "kept-dateline"),
        "traffic classes": bool(routing.traffic_class),
        "paths of senders": isinstance(routing, Paths),
    }
    for what in (what for what, there in others.items() if there and after.own_lanes):
        message = f"lanes of their own after a fault do not go with {what}"
        raise scenario.error(message, (*path, "own_lanes"), "leave one of them out", key=True)


def _faults(scenario: Scenario) -> None:
    """Check that a fault names one component and ordered times within the run; no settings without one."""
    for name in () if scenario.fault else FAULT_SETTINGS:
        if name in scenario.raw.get("technology", {}):
            message = f"technology.{name} has no effect: nothing fails"
            raise scenario.error(message, ("technology", name), "add [[fault]], or remove it", key=True)
    if not scenario.technology.network_kind.cables:
        _closed_routes(scenario, cast("RingLinks", scenario.technology))
    for place, fault in enumerate(scenario.fault):
        _fault(scenario, ("fault", place), fault)


def _closed_routes(scenario: Scenario, technology: RingLinks) -> None:
    """Check that routes are closed only to sources with an open loop."""
    if technology.closed_for_ps is not None and not technology.close_after:
        message = "technology.closed_for has no effect: no route is closed"
        hint = "write close_after = 3, or remove it"
        raise scenario.error(message, ("technology", "closed_for"), hint, key=True)
    path: Path = ("technology", "close_after")
    if technology.close_after and scenario.program is not None:
        raise scenario.error("programs close no routes", path, "remove it", key=True)
    waits = isinstance(scenario.traffic.arrivals, Wait | RandomWait | Backlog)
    if technology.close_after and (waits or isinstance(scenario.traffic.pattern, Descriptors)):
        message = "routes are not closed to sources that wait for the network: they would discard without end"
        raise scenario.error(message, path, "remove it, or give a load", key=True)


def _fault(scenario: Scenario, path: Path, fault: Fault) -> None:
    """Check that a fault names one component and gives its time in one way."""
    if len(fault.what) != 1:
        found = " and ".join(fault.what) if fault.what else "none of them"
        message = f"a fault is of one of link, cable, switch, bus and terminal; found {found}"
        hint = "keep one" if fault.what else 'write one, such as link = "s0>s1"'
        raise scenario.error(message, path, hint)
    if len(fault.when) != 1:
        found = " and ".join(fault.when) if fault.when else "none of them"
        message = f"a fault says when by one of at, mtbf and bit_error_rate; found {found}"
        hint = "keep one" if fault.when else 'write one, such as at = "100 us"'
        raise scenario.error(message, path, hint)
    for name, needed, given in (("repaired", "at", fault.repaired_ps), ("mttr", "mtbf", fault.mttr_ps)):
        if given is not None and fault.when != [needed]:
            message = f"{name} goes with {needed}, this fault has {fault.when[0]}"
            raise scenario.error(message, (*path, name), "remove it", key=True)
    for name in ("stuck", "silent"):
        if getattr(fault, name) and fault.what != ["terminal"]:
            message = f"a {fault.what[0]} cannot be {name}: only terminals can"
            raise scenario.error(message, (*path, name), "remove it, or name a terminal", key=True)
    if fault.silent and fault.stuck:
        message = "a terminal that is stuck and silent takes two faults, one for each direction"
        raise scenario.error(message, (*path, "silent"), "write another [[fault]]", key=True)
    if fault.silent and not scenario.technology.network_kind.streams:
        message = "a station of a ring sends its packets whole: none of them stops in the middle"
        raise scenario.error(message, (*path, "silent"), "write stuck, or have the terminal fail", key=True)
    if fault.physical_lanes is not None:
        _physical_lanes(scenario, (*path, "physical_lanes"), fault)
    _fault_moments(scenario, path, fault)


def _physical_lanes(scenario: Scenario, path: Path, fault: Fault) -> None:
    if fault.what[0] not in ("link", "cable"):
        message = f"physical lanes are of links and cables, not of a {fault.what[0]}"
        raise scenario.error(message, path, "remove it, or name a link", key=True)
    if fault.bit_error_rate is not None:
        message = "a wrong bit takes no physical lane out of its link"
        raise scenario.error(message, path, "remove it, or write mtbf", key=True)
    if not isinstance(scenario.technology, Generic):
        message = f"links of {scenario.technology.preset} have one physical lane, without which they fail"
        raise scenario.error(message, path, "remove it", key=True)


def _fault_moments(scenario: Scenario, path: Path, fault: Fault) -> None:
    duration_ps = scenario.run.duration_ps
    if fault.at_ps is not None and fault.repaired_ps is not None and fault.repaired_ps <= fault.at_ps:
        message = "it is repaired before it fails"
        hint = "repaired is a moment of the run, like at, not how long the repair takes"
        raise scenario.error(message, (*path, "repaired"), hint)
    if fault.at_ps is not None and fault.at_ps >= duration_ps:
        message = "this fault comes after the end of the run"
        raise scenario.error(message, (*path, "at"), "make run.duration longer, or fail earlier")
    if fault.bit_error_rate is not None and fault.what[0] not in ("link", "cable"):
        message = f"bit errors are of links and cables, not of a {fault.what[0]}"
        raise scenario.error(message, (*path, "bit_error_rate"), "write mtbf, or name a link", key=True)
    if fault.replay:
        if fault.bit_error_rate is None:
            message, hint = "replay has no effect: no bit is wrong", "write bit_error_rate, or remove it"
            raise scenario.error(message, (*path, "replay"), hint, key=True)
        if not isinstance(scenario.technology, Generic):
            message = f"links of {scenario.technology.preset} send nothing again: they disconnect"
            if scenario.technology.network_kind.transactions:
                message = "SCI sends nothing again that a wrong bit has lost: that is left to software"
            raise scenario.error(message, (*path, "replay"), "remove it", key=True)


def _alike(file: FilePath) -> list[str]:
    """Return the names of files with the same extension in the same folder."""
    if not file.parent.is_dir():
        return []
    return sorted(p.name for p in file.parent.iterdir() if p.suffix == file.suffix)[:1000]


def _files(scenario: Scenario) -> None:
    """Check that the files that a scenario names exist and have their checksums."""
    for path, table in files(scenario).items():
        file = scenario.base_dir / table.path
        _ordinary(scenario, file, table.path, path)
        try:
            found = checksum(file) if table.sha256 else None
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise scenario.error(f"cannot be read: {reason}", path, "check its permissions") from None
        if found != table.sha256:
            hint = "the file has changed; remove sha256, or bring the old file back"
            raise scenario.error(f"the checksum of {table.path} is another one", (*path[:-1], "sha256"), hint)


def _ordinary(scenario: Scenario, file: FilePath, written: str, path: Path) -> None:
    """Refuse anything but a regular file: a missing file, a folder, a pipe, a device."""
    shown = written if len(written) <= 100 else written[:97] + "..."
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        near = units.nearest(file.name, _alike(file), 0.8)
        hint = f'did you mean "{near}"?' if near else "paths are relative to the folder of the scenario"
        raise scenario.error(f"no such file: {shown}", path, hint) from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise scenario.error(f"{shown} cannot be read: {reason}", path, "check the name") from None
    except ValueError:
        raise scenario.error(
            "the name of the file holds a NUL character", path, "name another file"
        ) from None
    if stat.S_ISDIR(mode):
        raise scenario.error(f"{shown} is a folder", path, "name a file in it")
    if not stat.S_ISREG(mode):
        hint = "save what it holds as a file"
        raise scenario.error(f"{shown} is a pipe or a device, not a file", path, hint)


# Checks of ``[[time_code]]``, ``[[interrupt]]`` and ``[[broadcast]]`` against the other sections.
_OF_SPACEWIRE = (
    "time-codes and interrupts",
    "SpaceWire",
    "time_code_bits",
    '"spacewire-200", or that of a router such as "spw-10x"',
)
_OF_SPACEFIBRE = ("broadcasts", "SpaceFibre", "broadcast_flits", '"spacefibre-2g5"')
"""What codes are called, of what they are, the setting that links with them have, and a preset with it."""


def check_codes(scenario: Scenario) -> None:
    """Check that the technology has codes, that times are within the run, and that no setting is unused.
    Raises ScenarioError."""
    sent = [name for name in CODES if getattr(scenario, name)]
    for name in () if sent else CODE_SETTINGS:
        if name in scenario.raw.get("technology", {}):
            section = "broadcast" if name.startswith("broadcast") else "time_code"
            what = "broadcasts" if section == "broadcast" else "time-codes or interrupts"
            message = f"technology.{name} has no effect: nothing sends {what}"
            raise scenario.error(message, ("technology", name), f"add [[{section}]], or remove it", key=True)
    for name in sent:
        what, links, needed, preset = _OF_SPACEFIBRE if name == "broadcast" else _OF_SPACEWIRE
        if not scenario.network_kind.codes:
            message = f"{what} are of {links}, not of a {scenario.topology.kind}"
            raise scenario.error(message, (name,), "remove them", key=True)
        given = getattr(scenario.technology, needed, None)
        if not (given or settings(scenario.technology.preset).get(needed)):
            message = f"links of {scenario.technology.preset} have no {what}"
            raise scenario.error(message, (name,), f"write technology.preset = {preset}", key=True)
    for place, one in enumerate(scenario.time_code):
        start_ps = one.every_ps if one.first_ps is None else one.first_ps
        _moment(scenario, ("time_code", place), start_ps, "every" if one.first_ps is None else "first")
        if one.until_ps is not None and one.until_ps <= start_ps:
            message = "it would send no time-code: the first one comes at "
            message += units.format_time_ps(start_ps)
            hint = "until is a moment of the run: make it later"
            raise scenario.error(message, ("time_code", place, "until"), hint)
    for path, other in listed(scenario, "interrupt", "broadcast"):
        _moment(scenario, path, other.first_ps, "first")


def _moment(scenario: Scenario, path: Path, start_ps: int, key: str) -> None:
    if start_ps >= scenario.run.duration_ps:
        message = "the first one comes after the end of the run"
        raise scenario.error(message, (*path, key), "make run.duration longer, or send earlier")

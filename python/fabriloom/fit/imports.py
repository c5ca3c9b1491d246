"""Import measurements of other tools: the OSU micro-benchmarks, netgauge, and plain CSV.

OSU latencies are half round trips; its bandwidths and message rates of one pair give the time per message of
a train. A file can have the output of several.
netgauge's LogGP gives ``o_s``, ``o_r``, ``g`` and ``G`` by size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .. import reading, units
from ..reading import ReadError
from .samples import QUANTITIES, FitError, Samples

_MOST_BYTES = 1 << 26
_UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_COLUMNS = {f"{name}_{unit}": (name, factor) for name in QUANTITIES for unit, factor in _UNITS_NS.items()}
_OSU = re.compile(r"#\s*OSU\s+(.*?)\s+v?\d+\.\d+", re.IGNORECASE)
_OF_ONE = re.compile(
    r"MPI(-\w+)?( Persistent)? (Latency|(Multiple )?Bandwidth( / Message Rate)?)( Persistent)?( Test)?",
    re.IGNORECASE,
)
"""Tests of OSU in which one process sends messages to one."""
_PAIRS = re.compile(r"[^\n]*(?:\n#[^\n]*)*?\n#[^\n]*pairs:\s*(\d{1,9})")
"""In one of the lines below the title of a test of OSU."""
_OSU_UNIT = re.compile(r"^#\s*Size\b[^(\n]*\(([^)\n]*)\)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def read(path: Path) -> Samples:
    """Read the samples of a file of any of these kinds. Raises :class:`FitError`."""
    try:
        content = reading.content(path, _MOST_BYTES, "64 MB", "name a list of sizes and times")
        text = reading.text_of(content, str(path))
    except ReadError as error:
        raise _at(path, error) from error
    if _OSU.search(text):
        found = _osu(path, text)
    elif "netgauge" in text.lower() or "loggp" in text.lower():
        found = _netgauge(path, text)
    else:
        found = _csv(path, text)
    if not found.values:
        raise FitError(f"{path}: it has no values\n  = is it cut short? Rows are a size and its numbers")
    found.sources.append(path.name)
    return found


def _at(path: Path, error: ReadError) -> FitError:
    where = f"{path}:{error.place[1]}" if error.place else str(path)
    return FitError(f"{where}: {error}\n  = {error.hint}")


def _rows(path: Path, text: str, least: int, begin: int) -> Iterator[tuple[int, list[float]]]:
    """Return the numbers of each line but comments, from a line on.

    Raises :class:`FitError`, also for a file cut short.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines[begin - 1 :], begin):
        words = line.split()
        if not words or line.lstrip().startswith("#") or not _NUMBER.fullmatch(words[0]):
            continue
        cut = number == len(lines) and not text.endswith("\n")
        if len(words) < least or cut or not all(_NUMBER.fullmatch(word) for word in words[:least]):
            short = number == len(lines)
            what = "the file is cut short here" if short else f"{least} numbers are expected here"
            where = f'{path}:{number}: "{line.strip()[:60]}"'
            raise FitError(f"{where}: {what}\n  = save the whole of what was printed")
        yield number, [float(word) for word in words[:least]]


def _size(path: Path, line: int, value: float) -> int | None:
    """Return a size; None for empty messages, which no program sends."""
    if value == 0:
        return None
    if not 1 <= value < 2**31 or value != int(value):
        raise FitError(f"{path}:{line}: {value:g} is not a message size\n  = write whole bytes, below 2^31")
    return int(value)


def _osu(path: Path, text: str) -> Samples:
    """Read the output of ``osu_latency``, ``osu_bw`` and ``osu_mbw_mr``, of one or several in a file."""
    found = Samples()
    begins = {text.count("\n", 0, match.start()) + 1: match for match in _OSU.finditer(text)}
    latency = {line: _is_latency(path, line, match, text) for line, match in begins.items()}
    for match in _OSU_UNIT.finditer(text, min(one.start() for one in begins.values())):
        line = text.count("\n", 0, match.start()) + 1
        unit = "us" if latency[max(begin for begin in begins if begin < line)] else "MB/s"
        if match[1].strip().lower() != unit.lower():
            shown = f'"{match[1].strip()[:20]}"'
            raise FitError(f"{path}:{line}: OSU prints {unit} here, not {shown}\n  = save what it printed")
    for line, (first, value) in _rows(path, text, 2, min(begins)):
        size = _size(path, line, first)
        if not 0 < value < 1e18:
            raise FitError(f"{path}:{line}: {value:g} is not a measured value\n  = leave the line out")
        if size is None:
            continue
        is_latency = latency[max(begin for begin in begins if begin < line)]
        quantity = "half_round" if is_latency else "gap"
        if size in found.values.get(quantity, {}):
            again = f"{path}:{line}: a second {'latency' if is_latency else 'rate'} at {size} B"
            raise FitError(f"{again}\n  = take one run, of one datatype and one window size")
        found.put(quantity, size, value * 1e3 if is_latency else size / value * 1e3)  # MB/s: 10^6 bytes
    return found


def _is_latency(path: Path, line: int, title: re.Match[str], text: str) -> bool:
    """Whether a test tells half rounds and no trains. Raises :class:`FitError` for one that tells neither."""
    name, take = title[1].strip(), "take osu_latency, osu_bw"
    kind = name.lower()
    pairs = _PAIRS.match(text, title.start())
    if "bi-directional" in kind or ("multi" in kind and "latency" in kind) or (pairs and int(pairs[1]) > 1):
        at_once = f" of {pairs[1]} pairs" if pairs else ""
        raise FitError(
            f"{path}:{line}: OSU {name}{at_once} is of several at once, which is to be predicted\n  = {take}"
        )
    if not _OF_ONE.fullmatch(name):
        raise FitError(f"{path}:{line}: OSU {name} says nothing of single messages\n  = {take}")
    return "latency" in kind


_NETGAUGE = re.compile(
    r"L=\s*(?P<L>[\d.eE+-]+)\D+?(?:s=\s*)(?P<size>\d+)\D.*?o_s=\s*(?P<o_s>[\d.eE+-]+).*?o_r=\s*(?P<o_r>[\d.eE+-]+)"
    r".*?g=\s*(?P<g>[\d.eE+-]+).*?G=\s*(?P<G>[\d.eE+-]+)",
    re.IGNORECASE,
)


def _netgauge(path: Path, text: str) -> Samples:
    """Read netgauge's ``loggp``: a line per size with L, s, o_s, o_r, g and G in microseconds."""
    found = Samples()
    for number, line in enumerate(text.splitlines(), 1):
        match = _NETGAUGE.search(line)
        if match is None:
            continue
        try:
            values = {name: float(match[name]) * 1e3 for name in ("L", "o_s", "o_r", "g", "G")}
        except ValueError:
            raise FitError(
                f"{path}:{number}: a number that cannot be read\n  = save all that was printed"
            ) from None
        size = _size(path, number, float(match["size"]))
        if size is None:
            continue
        bad = [name for name, value in values.items() if not 0 <= value < 1e18]
        if bad:
            message = f"{path}:{number}: {bad[0]} is negative or too large\n  = measure with more rounds"
            raise FitError(message)
        whole = (size - 1) * values["G"]
        found.put("send", size, values["o_s"])
        found.put("receive", size, values["o_r"])
        found.put("gap", size, max(values["g"] + whole, values["o_s"]))
        found.put("half_round", size, values["o_s"] + values["L"] + whole + values["o_r"])
    if not found.values:
        raise FitError(
            f"{path}: netgauge printed no LogGP parameters here\n  = run it with -x loggp, and save all lines"
        )
    return found


def _csv(path: Path, text: str) -> Samples:
    """Read a table with a column ``bytes`` and some of ``half_round``, ``send``, ``receive``, ``gap`` and
    ``turn``, with a unit such as ``_us`` in their names."""
    found, names = Samples(), list[str]()
    decimals = reading.Decimals.of(text)
    try:
        for line, cells in reading.records(text, str(path)):
            if not any(cells):
                continue
            if not names:
                reading.check_header(line, cells, text, str(path))
                names = [cell.strip() for cell in cells]
                _columns(path, line, names)
                continue
            _csv_row(path, line, names, [decimals.with_point(cell) for cell in cells], found)
    except ReadError as error:
        raise _at(path, error) from error
    return found


def _columns(path: Path, line: int, names: list[str]) -> None:
    """Raise :class:`FitError` for a header without a size or values, or with a quantity in no known unit."""
    known = ["bytes", *_COLUMNS]
    others = [name for name in names if name not in known]
    unread = [name for name in others if {name, name.rpartition("_")[0]} & set(QUANTITIES)]
    if "bytes" not in names or not set(names) & set(_COLUMNS) or unread:
        wrong = next(iter(unread or others), names[0])
        near = units.nearest(wrong, known)
        hint = f'is "{near}" meant? ' if near else ""
        if wrong.lower().startswith(("round", "rtt", "ping")):
            hint = "half_round_us is half of a round trip, so halve its times; "
        raise FitError(
            f'{path}:{line}: not a table of measured values: column "{wrong[:40]}"\n  = {hint}columns are '
            "bytes and, each with its unit, half_round_us, send_us, receive_us, gap_us, turn_us; or the "
            "output of OSU or netgauge"
        )


def _csv_row(path: Path, line: int, names: list[str], cells: list[str], found: Samples) -> None:
    if len(cells) != len(names):
        raise FitError(
            f"{path}:{line}: {len(cells)} cells, the header has {len(names)}\n  = is the file cut short?"
        )
    row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
    size = None
    for name in ["bytes", *(name for name in names if name in _COLUMNS)]:
        if not row[name] and name != "bytes":
            continue
        if not _NUMBER.fullmatch(row[name]) or not 0 <= float(row[name]) < 1e18:
            raise FitError(f'{path}:{line}: {name} cannot be "{row[name][:40]}"\n  = write a number')
        if name == "bytes":
            size = _size(path, line, float(row[name]))
        elif size is not None:
            quantity, factor = _COLUMNS[name]
            if size in found.values.get(quantity, {}):
                again = f"{path}:{line}: {name} at {size} B is a second value of this quantity"
                raise FitError(f"{again}\n  = write one for each size, such as the median")
            found.put(quantity, size, float(row[name]) * factor)

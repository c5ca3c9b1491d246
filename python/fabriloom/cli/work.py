"""The implementation of each command; every function returns an exit code."""

from __future__ import annotations

import json as jsonlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import bars, exits, folders, show
from .exits import Mistake

if TYPE_CHECKING:
    from ..compile import Compiled
    from ..output import Output
    from ..scenario import Scenario

__all__ = [
    "beside_twin",
    "check",
    "compare",
    "curve",
    "draw",
    "loads_of",
    "plot",
    "reproduce",
    "run",
    "saturate",
    "schema",
    "seeds",
]


_LARGEST_REPORT = 1 << 30


def loads_of(text: str | None, scenarios: Sequence[Scenario] = ()) -> list[float] | None:
    """Parse the loads of the command line; returns them ascending, without duplicates. They may exceed 1 for
    scenarios with rates. Raises Mistake.
    """
    if text is None:
        return None
    try:
        loads = [float(part) for part in text.split(",")]
    except ValueError:
        raise Mistake(
            f"--loads {text}: write numbers with commas between them, such as 0.1,0.3,0.5"
        ) from None
    for load in loads:
        if any(scenario.traffic.is_rated() for scenario in scenarios) and 0 < load <= 1e6:
            continue
        if not 0 < load <= 1:
            percent = f"; for {load:g} % write {load / 100:g}" if 1 < load <= 100 else ""
            raise Mistake(
                f"--loads {text}: {load:g} is not above 0 and at most 1; 1 is all that a link "
                f"carries{percent}"
            )
    ordered = sorted(set(loads))
    if ordered != loads:
        exits.complain(f"--loads: run in order and each once, {','.join(f'{load:g}' for load in ordered)}")
    return ordered


def give(
    folder: Output | None,
    json: bool,
    text: Callable[[], str],
    tell: Callable[[], None],
    write: Callable[[Output], None],
    page: str = "report.html",
    finished: bool = True,
) -> None:
    """Write a result to its folder, if any, then print it as JSON or as text, even if the disk is full.

    The same command can continue an unfinished result. Printing comes last, because the reader of a pipe may
    go away (`| head`).
    """
    place = None
    try:
        if folder is not None:
            with exits.undisturbed():
                write(folder)
                place = folder.finish(finished)
    finally:
        if json:
            show.line(text().rstrip("\n"))
        else:
            tell()
    if place is not None and not json:
        place = folders.shown(place)
        show.line(f"Written to {place}{os.sep}; open {place / page}")


def _study(
    found: Any,
    folder: Output | None,
    json: bool,
    csv: bool,
    tell: Callable[[], None],
    html: Callable[[], str],
    text: Callable[[], str] | None = None,
) -> int:
    """Write a study of several runs to its folder, if any, and print it as JSON (``text``, or its summary) or
    as text; returns the exit code.
    """

    def write(at: Output) -> None:
        folders.write_study(at, found, html(), csv)

    give(folder, json, text or found.to_json, tell, write, finished=not found.interrupted)
    return _code(found, folder)


def run(scenario: Scenario, json: bool, folder: Output | None, csv: bool, strict: bool = False) -> int:
    """Run a scenario once; print and write the results."""
    from .. import simulate

    with bars.bar("Running") as bar:
        results = simulate.run(_compiled(scenario), progress=bar.run)
    for warning in results.summary["warnings"]:
        exits.complain(f"warning: {warning}")

    def write(at: Output) -> None:
        folders.write_run(at, results, csv)

    give(folder, json, results.to_json, lambda: show.run(results), write)
    return _strictly(strict, code_of_ends([results.summary["end"]]), [results.summary])


def _compiled(scenario: Scenario) -> Compiled:
    """Compile a scenario, and name the settings that change nothing in it."""
    from ..compile import compile
    from ..studies.silent import silent_settings

    compiled = compile(scenario)
    for warning in silent_settings(compiled):
        exits.complain(f"warning: {warning}")
    return compiled


def _strictly(strict: bool, code: int, summaries: Sequence[Mapping[str, Any]]) -> int:
    """Return the exit code of runs; ``strict``: a requirement that is not known to be met is an error."""
    asked = [one.get("requirements", {}) for one in summaries]
    failed = any(one.get(word) for one in asked for word in ("missed", "unknown"))
    return exits.DISAGREES if strict and failed and code == exits.OK else code


def seeds(
    scenario: Scenario,
    count: int,
    jobs: int,
    json: bool,
    folder: Output | None,
    csv: bool,
    strict: bool = False,
) -> int:
    """Run a scenario with several seeds; print and write the results."""
    from .. import studies
    from ..report import for_seeds

    _compiled(scenario)
    with bars.bar("Seeds") as bar:
        found = studies.repeat(scenario, count, jobs=jobs, out=folder and folder.kept, progress=bar.study)
    code = _study(found, folder, json, csv, lambda: show.seeds(found), lambda: for_seeds(found))
    return _strictly(strict, code, [point.summary for point in found.points])


def beside_twin(scenario: Scenario, json: bool) -> int:
    """Compare the engine with its slow twin."""
    from dataclasses import asdict

    from .. import simulate

    found = simulate.compare(scenario)
    if json:
        show.line(jsonlib.dumps(asdict(found), indent=2))
    else:
        same = "identical, packet by packet" if found.identical else "NOT THE SAME"
        ratio = found.twin_wall_s / found.wall_s if found.wall_s else 0.0
        show.pairs(
            [
                ("deliveries", same),
                ("compared", f"up to {found.until_ps / 1e9:.6g} ms; the engine ended {found.end_reason}"),
                ("packets", f"{found.packets:,}; the twin {found.twin_packets:,}"),
                (
                    "time",
                    f"{found.wall_s:.3f} s; the twin {found.twin_wall_s:.3f} s, {ratio:.1f} times as long",
                ),
            ]
        )
    return exits.OK if found.identical else exits.DISAGREES


def curve(
    scenario: Scenario,
    loads: list[float] | None,
    points: int | None,
    jobs: int,
    json: bool,
    folder: Output | None,
    published: bool,
    csv: bool,
) -> int:
    """Run a curve or a sweep; print and write it, with published numbers if wanted."""
    from .. import studies
    from ..report import for_curve

    beside = None
    if published:
        from ..experiments.beside import Beside

        beside = Beside.of(scenario)
        if beside is None:
            raise Mistake(f"--published: {_nothing_published()}")
    options: dict[str, Any] = {"points": points, "jobs": jobs, "out": folder and folder.kept}
    if not scenario.sweep:
        _compiled(scenario)
    with bars.bar("Curve") as bar:
        found = studies.curve(scenario, loads, progress=bar.study, **options)
    if beside is None:
        return _study(found, folder, json, csv, lambda: show.curve(found), lambda: for_curve(found))
    rows, printed = beside.rows(found), beside.points(found)

    def tell() -> None:
        show.curve(found)
        show.beside(rows)

    def text() -> str:
        return jsonlib.dumps({**found.summary, "published": rows}, indent=2)

    return _study(found, folder, json, csv, tell, lambda: for_curve(found, printed, rows), text)


def compare(
    scenarios: Sequence[Scenario],
    results: Sequence[Path],
    loads: list[float] | None,
    jobs: int,
    json: bool,
    folder: Output | None,
    csv: bool,
) -> int:
    """Compare scenarios, or one and its variants, and existing results of programs."""
    from .. import studies
    from ..report import for_comparison
    from . import real

    if len(scenarios) == 1 and not scenarios[0].variants and not results:
        raise Mistake("one scenario without [variants] has nothing to be compared with; name another file")
    with bars.bar("Comparison") as bar:
        named = _named(scenarios)
        theirs = real.results_of(results, list(named))
        if named:
            found = studies.compare(named, loads, jobs=jobs, out=folder and folder.kept, progress=bar.study)
            found = real.beside(found, named, theirs) if theirs else found
        else:
            found = real.beside(None, {}, theirs)

    return _study(found, folder, json, csv, lambda: show.curve(found), lambda: for_comparison(found))


def _named(scenarios: Sequence[Scenario]) -> dict[str, Scenario]:
    """Return all scenarios and their variants by name; equal names get a number."""
    from ..studies import variants

    named: dict[str, Scenario] = {}
    for scenario in scenarios:
        for name, one in variants(scenario).items():
            again = sum(other == name or other.startswith(f"{name} (") for other in named)
            named[f"{name} ({again + 1})" if again else name] = one
    return named


def _nothing_published() -> str:
    from ..experiments.beside import KNOWN

    return f"no published numbers about this network are here; there are some about: {KNOWN}"


def interrupted(finished: int, folder: Output | None) -> str:
    """Return the message about a study that Ctrl-C ended after some finished runs."""
    found = {0: "no run was finished", 1: "1 run was finished, and only it is shown"}
    many = f"{finished} runs were finished, and only they are shown"
    again = "" if folder is None else " The same command continues from here."
    return f"Interrupted: {found.get(finished, many)}.{again}"


def _code(study: Any, folder: Output | None) -> int:
    """Return the exit code of a study of several runs."""
    if study.interrupted:
        exits.complain(interrupted(len(study.points), folder))
        return exits.INTERRUPTED
    return code_of_ends([point.summary["end"] for point in study.points])


def code_of_ends(ends: list[dict[str, Any]]) -> int:
    """Return the exit code of runs by their ends; report a fault of the engine on standard error as well."""
    from ..results.ends import STUCK

    for end in ends:
        if end["reason"] == "stalled":
            exits.complain(f"fault: {end['message']}")
            return exits.FAULT
    reasons = {end["reason"] for end in ends}
    if "interrupted" in reasons:
        return exits.INTERRUPTED
    return exits.OK if reasons.isdisjoint(STUCK) else exits.DEADLOCK


def saturate(
    scenario: Scenario, definition: str, jobs: int, json: bool, folder: Output | None, csv: bool
) -> int:
    """Find the saturation throughput; print and write it."""
    from .. import studies
    from ..report import for_saturation
    from ..studies.saturation import DEFINITIONS

    chosen: Any = definition
    if definition not in DEFINITIONS:
        raise Mistake(f"--definition {definition}: choose {' or '.join(sorted(DEFINITIONS))}")
    _compiled(scenario)
    with bars.bar("Saturation") as bar:
        found = studies.saturate(scenario, chosen, jobs=jobs, out=folder and folder.kept, progress=bar.study)
    return _study(found, folder, json, csv, lambda: show.saturation(found), lambda: for_saturation(found))


def check(
    scenario: Scenario, json: bool, fault: str | None = None, pairings: int = 0, resolved: bool = False
) -> int:
    """Print the properties of a scenario that are known before it runs."""
    from ..compile.deadlock import DEADLOCKS
    from ..studies import inspection

    if fault is not None and resolved:
        raise Mistake("--resolved: with --fault nothing but the failures is printed; leave one of both out")
    if fault is not None:
        return _check_failures(scenario, json, fault)
    found = inspection.inspect(scenario, pairings)
    if json:
        show.line(jsonlib.dumps(found, indent=2, ensure_ascii=False))
    else:
        show.pairs(inspection.lines(found))
        if resolved:
            show.line("\nThe scenario with every default filled in:")
            show.line(jsonlib.dumps(found["resolved"], indent=2, ensure_ascii=False))
    for warning in found["warnings"]:
        if not warning.startswith(DEADLOCKS):  # the answer says it
            exits.complain(f"warning: {warning}")
    return exits.OK if found["deadlock"]["free"] else exits.DEADLOCK


def _check_failures(scenario: Scenario, json: bool, kinds: str) -> int:
    """Print the effect of every single failure."""
    from .. import units
    from ..compile import compile
    from ..studies import failures

    if kinds not in failures.KINDS:
        near = units.nearest(kinds, list(failures.KINDS))
        meant = f'did you mean "{near}"? ' if near else ""
        raise Mistake(f"--fault {kinds}: {meant}there are {', '.join(failures.KINDS)}")
    found = failures.look(compile(scenario), kinds)
    if json:
        show.line(jsonlib.dumps(found, indent=2, ensure_ascii=False))
    else:
        show.line(f"{failures.verdict(found)}.\n")
        show.table(failures.HEAD, failures.table(found), [False, *[True] * 5, False])
        show.line(
            "A pair is a sender and one of its receivers. Routing tables stay; groups shrink to what is left."
        )
    return exits.OK if found["deadlock_free"] else exits.DEADLOCK


def draw(scenario: Scenario, output: Path | None, force: bool) -> int:
    """Draw the network as SVG."""
    from ..compile import graph_of
    from ..output import encoded, file
    from ..report.drawing import fabric_svg

    if output is not None and output.suffix.lower() not in ("", ".svg"):
        raise Mistake(f"-o {output}: a drawing is SVG; name it {output.with_suffix('.svg').name}")
    if output is not None and os.path.lexists(output) and not force:
        raise Mistake(f"-o {output}: the file exists; name another one, or add --force to replace it")
    svg = fabric_svg(graph_of(scenario))
    if output is None:
        show.line(svg)
    else:
        with file(output) as out:
            out.write(encoded(svg))
        show.line(f"Written to {output}")
    return exits.OK


def plot(report: Path, out: Path, form: str, numbers: Sequence[int], force: bool) -> int:
    """Write the charts of a report as files."""
    from .. import reading
    from ..reading import ReadError
    from ..report import plot as plots

    if form not in plots.FORMATS:
        raise Mistake(f"--format {form}: choose from {', '.join(plots.FORMATS)}")
    file = report / "report.html" if report.is_dir() else report
    try:
        content = reading.content(file, _LARGEST_REPORT, "1 GB", "name a report.html that fabriloom wrote")
        charts = plots.charts_in(content.decode("utf-8", "replace"))
    except ReadError as error:
        raise Mistake(f"{file}: {error}\n  {error.hint}") from error
    except ValueError as error:
        raise Mistake(f"{file}: {error}") from error
    for number in numbers:
        if not 1 <= number <= len(charts):
            raise Mistake(f"--figure {number}: the report has {len(charts)} charts, count from 1")
    drawn = {plots.file_name(n, chart, form): chart for n, chart in enumerate(charts, 1)}
    chosen = [name for n, name in enumerate(drawn, 1) if not numbers or n in numbers]
    with folders.taken(out, "plot", force) as folder:
        assert folder is not None
        for name in chosen:
            with folder.file(name) as figure:
                try:
                    figure.write(plots.drawn(drawn[name], form))
                except ValueError as error:  # of a damaged report
                    raise Mistake(f"{file}: {drawn[name].title} cannot be drawn: {error}") from error
        with exits.undisturbed():
            place = folders.shown(folder.finish())
    for name in chosen:
        show.line(f"Written to {place / name}: {drawn[name].title}")
    return exits.OK


def schema() -> int:
    """Print the JSON Schema of scenarios."""
    from ..scenario import json_schema

    show.line(jsonlib.dumps(json_schema(), indent=2, ensure_ascii=False))
    return exits.OK


def reproduce(name: str, json: bool, quick: bool, jobs: int, folder: Output | None, strict: bool) -> int:
    """Compute the numbers of one paper or of all; print and write them with the published ones."""
    from .. import experiments
    from ..experiments import evidence
    from ..output import Pieces

    if name not in (*experiments.names(), "all"):
        raise Mistake(f"there is no paper {name}; choose from: {', '.join(experiments.names())}, or all")
    papers = experiments.names() if name == "all" else (name,)
    with ExitStack() as stack:
        cache = None
        if folder is None:
            cache = stack.enter_context(folders.cached(f"{name}-quick" if quick else name))
        keep = folder.kept if folder else cache and Pieces(cache, cache.path / folders.RUNS)
        with bars.bar(f"Reproducing {name}") as bar:
            found = experiments.studies(papers, quick, jobs, bar.steps, keep)
        if cache and not any(one.unfinished for one in found.values()):
            cache.discard()
    lines = {paper: evidence.lines_of(paper, one, quick) for paper, one in found.items()}
    missing = [f"{paper} {part}" for paper, one in found.items() for part in one.unfinished]
    partial = f"PARTIAL: interrupted before there were results of {', '.join(missing)}" if missing else ""

    def text() -> str:
        every = [line for group in lines.values() for line in group]
        return jsonlib.dumps(every, indent=2, ensure_ascii=False)

    def tell() -> None:
        for paper, group in lines.items():
            known = [line for line in group if line["reason"] != evidence.INTERRUPTED]
            if known and len(lines) > 1:
                show.line(f"\n{paper.upper()}\n")
            if known:
                show.records(known)
        if len(lines) > 1:
            show.line("\nALL PAPERS\n")
            show.agreement([line for group in lines.values() for line in group])

    def write(at: Output) -> None:
        _write_reproduction(at, found, lines, quick, partial)

    give(folder, json, text, tell, write, "reproduction.html", finished=not partial)
    if partial:
        exits.complain(f"{partial}. The same command continues from here.")
        return exits.INTERRUPTED
    disagree = any(line["within"] is False for group in lines.values() for line in group)
    return exits.DISAGREES if strict and disagree else exits.OK


def _write_reproduction(folder: Output, found: Any, lines: Any, quick: bool, partial: str) -> None:
    from .. import __version__
    from ..experiments import evidence
    from ..report import for_reproduction

    shown = [evidence.reproduced(paper, one, lines[paper]) for paper, one in found.items()]
    html = for_reproduction(
        shown, version=__version__, warnings=[f"{partial}."] if partial else [], quick=quick
    )
    folders.write_reproduction(folder, [line for group in lines.values() for line in group], html)

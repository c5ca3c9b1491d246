"""The commands and their options. Each imports its implementation when it runs, so that help is fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import experiments
from . import exits, options
from .bring import bring
from .options import (
    Csv,
    CurvePoints,
    File,
    Force,
    ForceFile,
    Jobs,
    Json,
    Loads,
    Out,
    Seed,
    Set,
    at_home,
    loaded,
    words,
)
from .replay import replay
from .study import study

POINTS = "points"
"""Folder in which a study stores its finished points; ``studies.store`` is imported only when needed."""

_EPILOG = (
    "Exit codes: 0 done, also when saturated; 1 with --strict or --twin: numbers or engines disagree, or a "
    "requirement is missed or cannot be told; 2 a mistake in the arguments or the scenario; 3 deadlock; 4 a "
    "fault of the program; 130 interrupted, with partial results."
)


class Commands(options.Commands):
    """The commands of ``fabriloom``."""


app = typer.Typer(
    cls=Commands,
    help="Simulate lossless packet fabrics, from a scenario file to a report.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"fabriloom {__version__}")
        raise typer.Exit


app.add_typer(study, name="study")


@app.callback(epilog=_EPILOG)
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@Commands.command()
@exits.guarded
def new(
    kind: options.Kind = "",
    output: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="File to write; if not given, it is printed.", callback=at_home),
    ] = None,
    force: ForceFile = False,
) -> int:
    """Write a commented scenario as a starting point."""
    from . import new as command

    return command.new(kind, output, force)


@Commands.command()
@exits.guarded
def run(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
    twin: Annotated[
        bool, typer.Option("--twin", help="Compare every delivery with the slow second engine.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=2,
            max=1000,
            help="Run with N seeds; print the means over the runs and their spread.",
        ),
    ] = None,
    jobs: Jobs = 2,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit code 1 if a requirement is missed or cannot be told, in any run."
        ),
    ] = False,
) -> int:
    """Run a scenario once, or with several seeds.

    --seeds uses the seed of the scenario and the following ones. With --seeds and --out, finished runs are
    kept if the command is interrupted; the same command continues from there.
    """
    from . import folders, work

    if twin and (seeds or strict):
        other = "--seeds" if seeds else "--strict"
        raise exits.Mistake(f"--twin and {other}: choose one; --twin compares one run")
    with folders.taken(out, "run", force, POINTS if seeds else "", csv=csv) as folder:
        scenario = loaded(file, settings, seed)
        if seeds:
            return work.seeds(scenario, seeds, jobs, json, folder, csv, strict)
        return work.beside_twin(scenario, json) if twin else work.run(scenario, json, folder, csv, strict)


@Commands.command()
@exits.guarded
def curve(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    loads: Loads = None,
    points: CurvePoints = None,
    jobs: Jobs = 2,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
    published: Annotated[
        bool,
        typer.Option("--published", help="Also show the published numbers of this network."),
    ] = False,
) -> int:
    """Measure latency against throughput over offered loads, or over the scenario's [sweep].

    With --out, finished points are kept if the command is interrupted; the same command continues from there.
    """
    from . import folders, work

    with folders.taken(out, "curve", force, POINTS, csv=csv) as folder:
        scenario = loaded(file, settings, seed)
        asked = work.loads_of(loads, [scenario])
        return work.curve(scenario, asked, points, jobs, json, folder, published, csv)


@Commands.command()
@exits.guarded
def compare(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Scenarios, or one with [variants]; also result folders of measure, run or curve.",
            show_default=False,
            callback=at_home,
        ),
    ],
    settings: Set = None,
    seed: Seed = None,
    loads: Loads = None,
    jobs: Jobs = 2,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """Compare several scenarios, or the [variants] of one, at the same loads.

    With --out, finished points are kept if the command is interrupted; the same command continues from there.
    """
    from . import folders, work

    with folders.taken(out, "compare", force, POINTS, csv=csv) as folder:
        scenarios = [loaded(file, settings, seed) for file in files if not file.is_dir()]
        results = [file for file in files if file.is_dir()]
        return work.compare(scenarios, results, work.loads_of(loads, scenarios), jobs, json, folder, csv)


@Commands.command()
@exits.guarded
def saturate(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    definition: options.Definition = "peak",
    jobs: Jobs = 2,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """Find the saturation throughput, with its confidence interval."""
    from . import folders, work

    with folders.taken(out, "saturate", force, POINTS, csv=csv) as folder:
        return work.saturate(loaded(file, settings, seed), definition, jobs, json, folder, csv)


@Commands.command()
@exits.guarded
def measure(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    ranks: options.Ranks = None,
    hosts: options.Hosts = None,
    runner: options.Runner = "auto",
    warm_ups: options.WarmUps = 2,
    rounds: options.Rounds = 5,
    oversubscribe: options.Oversubscribe = False,
    patience: options.Patience = 60,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """Run a scenario's program on this machine or a cluster, over MPI, and time every message.

    With a [sweep], every point is measured. With --out, finished points are kept if the command is
    interrupted; the same command continues from there.
    """
    from . import folders, real

    how = real.settings_of(ranks, hosts, runner, warm_ups, rounds, oversubscribe, patience)
    with folders.taken(out, "measure", force, POINTS, csv=csv) as folder:
        return real.measure(loaded(file, settings, seed), how, json, folder, csv)


@Commands.command()
@exits.guarded
def fit(
    measured: Annotated[
        list[Path],
        typer.Argument(
            metavar="MEASURED…",
            help="Folders of fabriloom measure; output of OSU or netgauge; CSV.",
            show_default=False,
            callback=at_home,
        ),
    ],
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """Fit host and link parameters to ping-pong, message-train and one-to-many measurements, and predict the
    other measured programs.

    With --out, the parameters are written as a preset, fitted.toml, which a scenario can name.
    """
    from . import folders, real

    with folders.taken(out, "fit", force, csv=csv) as folder:
        return real.fit(measured, json, folder, csv)


@Commands.command()
@exits.guarded
def check(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    fault: options.Fault = None,
    bisection: options.Bisection = 0,
    resolved: options.Resolved = False,
    json: Json = False,
) -> int:
    """Check a scenario without running it: its parts, its throughput bounds, whether it can deadlock.

    --fault lists the effect of every single failure of a cable or a switch, the worst first.
    """
    from . import work

    return work.check(loaded(file, settings, seed), json, fault, bisection, resolved)


@Commands.command()
@exits.guarded
def route(
    file: File,
    settings: Set = None,
    certificate: options.Certificate = None,
    check: options.CheckCertificate = None,
    force: ForceFile = False,
    json: Json = False,
) -> int:
    """Say whether a routing can deadlock, with a proof or the cycle, and what other routings would cost."""
    from . import route as command

    return command.route(loaded(file, settings, None), certificate, check, force, json)


@Commands.command()
@exits.guarded
def bound(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    tries: options.Tries = 60,
    flow: options.FlowEnds = None,
    json: Json = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 if a requirement is not guaranteed.")
    ] = False,
) -> int:
    """Compute an upper bound on the delay of every flow, and search for the longest delay."""
    from . import bound as command

    return command.bound(loaded(file, settings, seed), tries, flow, json, strict)


@Commands.command()
@exits.guarded
def design(
    file: options.RequirementsFile,
    settings: Set = None,
    finalists: options.Finalists = 6,
    jobs: Jobs = 2,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """Find the networks that meet a file of requirements, the cheapest first.

    With --out, finished runs are kept if the command is interrupted; the same command continues from there.
    """
    from . import design as command

    return command.design(file, settings or [], finalists, jobs, json, out, force, csv)


@Commands.command()
@exits.guarded
def draw(
    file: File,
    settings: Set = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.svg", help="Write to this file.", callback=at_home),
    ] = None,
    force: ForceFile = False,
) -> int:
    """Draw the network as SVG, to standard output or to a file."""
    from . import work

    return work.draw(loaded(file, settings, None), output, force)


Commands.command("import")(bring)
Commands.command()(replay)


@Commands.command()
@exits.guarded
def export(file: File, settings: Set = None, out: Out = None, force: Force = False) -> int:
    """Write routing tables by logical address as CSV and as C arrays, path addresses, and the network as
    files.

    Without --out, the routing table of all routers is printed as CSV.
    """
    from . import export as command
    from . import folders

    with folders.taken(out, "export", force) as folder:
        return command.export(loaded(file, settings, None), folder)


@Commands.command()
@exits.guarded
def plot(
    report: Annotated[
        Path,
        typer.Argument(
            metavar="REPORT",
            help="A report.html or reproduction.html.",
            show_default=False,
            callback=at_home,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the figures.")] = Path(
        "figures"
    ),
    form: options.Form = "svg",
    numbers: Annotated[
        list[int] | None,
        typer.Option("--figure", metavar="N", help="Only the N-th chart of the report; repeatable."),
    ] = None,
    force: Force = False,
) -> int:
    """Draw the charts of a report as figures for a paper, one file each."""
    from . import work

    return work.plot(report, out, form, numbers or [], force)


@Commands.command()
@exits.guarded
def schema() -> int:
    """Print the JSON Schema of a scenario file, for editors."""
    from . import work

    return work.schema()


@Commands.command()
@exits.guarded
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"The paper: {', '.join(experiments.names())}, or all.",
            show_default=False,
            autocompletion=words(*experiments.names(), "all"),
        ),
    ],
    json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs.")] = False,
    jobs: Jobs = 2,
    out: Out = None,
    force: Force = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if a scored line disagrees.")] = False,
) -> int:
    """Compute the published numbers of a paper again, and print both.

    Ctrl-C prints the finished lines; the same command continues from there.
    """
    from . import folders, work

    with folders.taken(out, "reproduce", force, folders.RUNS, forget=True) as folder:
        return work.reproduce(name, json, quick, jobs, folder, strict)


@Commands.command()
@exits.guarded
def page(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="Your own scenarios, with the files that they name.",
            show_default=False,
            callback=at_home,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the server; 0: any free one.")
    ] = 8765,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> int:
    """Open the laboratory: a page in your browser that shows how packets move and block."""
    from .page import page

    return page(files or [], port, browser)

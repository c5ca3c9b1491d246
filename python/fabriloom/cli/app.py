"""The commands and their options. What they do is imported when they do it, so that help comes at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import experiments
from . import exits, options
from .options import Csv, CurvePoints, File, Force, ForceFile, Jobs, Json, Loads, Out, Seed, Set, at_home
from .study import study

POINTS = "points"
"""Where a study keeps its finished points; ``studies.store`` is imported only when it is needed."""

_EPILOG = (
    "Exit codes: 0 done, saturated included; 1 numbers or engines disagree, or a requirement is not kept, "
    "when asked; "
    "2 a mistake in the arguments or the scenario; 3 deadlock; 4 a fault of the program; "
    "130 interrupted, with partial results."
)


class _Commands(TyperGroup):
    """Says of each command the whole first sentence: the library cuts it at the end of a line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One entry per command, wrapped."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, " ".join((one.help or "").split("\n\n")[0].split()))
            for name, one in found
            if one is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    cls=_Commands,
    help="Simulate lossless packet fabrics: from a scenario file to a report.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _load(file: Path, settings: list[str] | None, seed: int | None) -> Any:
    from ..scenario import load

    return load(file, [*(settings or []), *([] if seed is None else [f"seed={seed}"])])


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


@app.command()
@exits.guarded
def new(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="grid, clos, spacewire, sci or event-builder.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Written to this file; without it printed.", callback=at_home),
    ] = None,
    force: ForceFile = False,
) -> int:
    """Write a commented scenario to start from."""
    from . import work

    return work.new(kind, output, force)


@app.command()
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
        bool, typer.Option("--twin", help="Compare with the slow plain engine, packet by packet.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=2,
            max=1000,
            help="Run with N seeds: means over them and their spread.",
        ),
    ] = None,
    jobs: Jobs = 2,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 when a requirement is missed; of one run.")
    ] = False,
) -> int:
    """Run a scenario once, or with several seeds.

    Seeds are that of the scenario and those that follow it. With --seeds and --out every finished run is
    kept at once; the same command takes an interrupted one up again.
    """
    from . import folders, work

    if twin and seeds:
        raise exits.Mistake("--twin and --seeds: choose one; --twin compares one run")
    with folders.taken(out, "run", force, POINTS if seeds else "", csv=csv) as folder:
        scenario = _load(file, settings, seed)
        if seeds:
            return work.seeds(scenario, seeds, jobs, json, folder, csv)
        return work.beside_twin(scenario, json) if twin else work.run(scenario, json, folder, csv, strict)


@app.command()
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
        typer.Option("--published", help="Show what a paper prints about this network beside the points."),
    ] = False,
) -> int:
    """Latency against throughput over offered loads, or the scenario's [sweep].

    With --out every finished point is kept at once; the same command takes an interrupted curve up again.
    """
    from . import folders, work

    with folders.taken(out, "curve", force, POINTS, csv=csv) as folder:
        scenario = _load(file, settings, seed)
        asked = work.loads_of(loads, [scenario])
        return work.curve(scenario, asked, points, jobs, json, folder, published, csv)


@app.command()
@exits.guarded
def compare(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Scenarios, or one with [variants]; folders of measure, run or curve beside them.",
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
    """Several scenarios, or the [variants] of one, under the same loads.

    With --out every finished point is kept at once; the same command takes an interrupted one up again.
    """
    from . import folders, work

    with folders.taken(out, "compare", force, POINTS, csv=csv) as folder:
        scenarios = [_load(file, settings, seed) for file in files if not file.is_dir()]
        results = [file for file in files if file.is_dir()]
        return work.compare(scenarios, results, work.loads_of(loads, scenarios), jobs, json, folder, csv)


@app.command()
@exits.guarded
def saturate(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    definition: Annotated[
        str,
        typer.Option(
            "--definition",
            metavar="peak|backlog",
            help="peak: the most accepted at any load; backlog: with sources that always have a packet.",
        ),
    ] = "peak",
    jobs: Jobs = 2,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """The saturation throughput, with its confidence."""
    from . import folders, work

    with folders.taken(out, "saturate", force, POINTS, csv=csv) as folder:
        return work.saturate(_load(file, settings, seed), definition, jobs, json, folder, csv)


@app.command()
@exits.guarded
def measure(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks",
            metavar="N",
            min=1,
            max=2**20,
            help="Processes at most; each terminal that takes part is one.",
        ),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(
            "--hosts", metavar="FILE", help="Machines, one a line: name:processes.", callback=at_home
        ),
    ] = None,
    runner: Annotated[
        str, typer.Option("--runner", metavar="auto|c|python", help="auto: C where it can be compiled.")
    ] = "auto",
    warm_ups: Annotated[
        int, typer.Option("--warm-ups", metavar="N", min=0, max=1000, help="Rounds that do not count.")
    ] = 2,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds", metavar="N", min=1, max=1000, help="Rounds that count; the middle one is reported."
        ),
    ] = 5,
    oversubscribe: Annotated[
        bool,
        typer.Option(
            "--oversubscribe", help="More processes than cores: to test whether it runs, not how fast."
        ),
    ] = False,
    patience: Annotated[
        int,
        typer.Option(
            "--patience", metavar="S", min=1, max=10**6, help="Give up after S seconds without progress."
        ),
    ] = 60,
    json: Json = False,
    out: Out = None,
    force: Force = False,
    csv: Csv = False,
) -> int:
    """Run a scenario's program on this machine or a cluster, over MPI, and time every message.

    With a [sweep], at each of its points; with --out every finished point is kept at once, and the same
    command takes an interrupted one up again.
    """
    from . import folders, real

    how = real.settings_of(ranks, hosts, runner, warm_ups, rounds, oversubscribe, patience)
    with folders.taken(out, "measure", force, POINTS, csv=csv) as folder:
        return real.measure(_load(file, settings, seed), how, json, folder, csv)


@app.command()
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
    """Find host and link parameters from ping-pong, trains and one to many, and predict the other programs.

    With --out the parameters are written as a preset, fitted.toml, that a scenario names.
    """
    from . import folders, real

    with folders.taken(out, "fit", force, csv=csv) as folder:
        return real.fit(measured, json, folder, csv)


@app.command()
@exits.guarded
def check(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    fault: options.Fault = None,
    bisection: options.Bisection = 0,
    json: Json = False,
) -> int:
    """Look at a scenario without running it: its parts, its bounds, whether it can deadlock.

    With --fault what every single failure of a cable or a switch would leave, the worst first.
    """
    from . import work

    return work.check(_load(file, settings, seed), json, fault, bisection)


@app.command()
@exits.guarded
def bound(
    file: File,
    settings: Set = None,
    seed: Seed = None,
    tries: Annotated[
        int,
        typer.Option(
            "--tries", metavar="N", min=0, max=10**6, help="Runs per flow that search for its longest delay."
        ),
    ] = 60,
    flow: Annotated[
        str | None,
        typer.Option("--flow", metavar="SOURCE:TARGET", help="Show the parts of the bound of this flow."),
    ] = None,
    json: Json = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 when a requirement is not guaranteed.")
    ] = False,
) -> int:
    """An upper bound on the delay of every flow, beside the longest delay that was found."""
    from . import bound as command

    return command.bound(_load(file, settings, seed), tries, flow, json, strict)


@app.command()
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
    """From requirements to a ranked list of networks, the cheapest first.

    With --out every finished run is kept at once; the same command takes an interrupted one up again.
    """
    from . import design as command

    return command.design(file, settings or [], finalists, jobs, json, out, force, csv)


@app.command()
@exits.guarded
def draw(
    file: File,
    settings: Set = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.svg", help="Where to.", callback=at_home)
    ] = None,
    force: ForceFile = False,
) -> int:
    """Draw the network as SVG; without -o to standard output."""
    from . import work

    return work.draw(_load(file, settings, None), output, force)


@app.command()
@exits.guarded
def export(file: File, settings: Set = None, out: Out = None, force: Force = False) -> int:
    """Routing tables by logical address, as CSV and as C arrays; path addresses; the network as files.

    Without --out the table of all routers is printed as CSV.
    """
    from . import export as command
    from . import folders

    with folders.taken(out, "export", force) as folder:
        return command.export(_load(file, settings, None), folder)


@app.command()
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
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", metavar="svg|pdf|png", help="Kind of the files.")] = "svg",
    numbers: Annotated[
        list[int] | None,
        typer.Option("--figure", metavar="N", help="Only this chart of the report, from 1; repeatable."),
    ] = None,
    force: Force = False,
) -> int:
    """Draw the charts of a report as figures for a paper, a file each."""
    from . import work

    return work.plot(report, out, form, numbers or [], force)


@app.command()
@exits.guarded
def schema() -> int:
    """Print the JSON Schema of a scenario file, for editors."""
    from . import work

    return work.schema()


@app.command()
@exits.guarded
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help=f"Which paper: {', '.join(experiments.names())}, or all.", show_default=False
        ),
    ],
    json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs.")] = False,
    jobs: Jobs = 2,
    out: Out = None,
    force: Force = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 when a scored line disagrees.")
    ] = False,
) -> int:
    """Simulate what a paper has published, and print both.

    Ctrl-C prints the lines that are complete; the same command continues from there.
    """
    from . import folders, work

    with folders.taken(out, "reproduce", force, folders.RUNS, forget=True) as folder:
        return work.reproduce(name, json, quick, jobs, folder, strict)


@app.command()
@exits.guarded
def page(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="Scenarios of your own, with the files that they name.",
            show_default=False,
            callback=at_home,
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 8765,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
) -> int:
    """Open the laboratory: a page in your browser that shows packets move and block."""
    from .page import page

    return page(files or [], port, browser)

"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(TyperGroup):
    """A group that makes a command when it is asked for: the options of all take longer than a short command.

    Its help shows the whole first sentence of each command: the library cuts it off.
    """

    later: ClassVar[dict[str, CommandInfo]]
    """The commands by name, before they are made."""

    def __init_subclass__(cls) -> None:
        """Give each group commands of its own."""
        cls.later = {}

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Take the settings of a group; ``commands`` are those that are made already, the groups in it."""
        super().__init__(*arguments, **settings)
        self._groups = dict(self.commands)
        self.commands = _Made(self.later, self._groups)

    @classmethod
    def command(cls, name: str = "", hidden: bool = False) -> Callable[[Function], Function]:
        """Return a decorator that adds a function as a command."""

        def add(function: Function) -> Function:
            own = name or function.__name__
            cls.later[own] = CommandInfo(own, callback=function, hidden=hidden)
            return function

        return add

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one entry per command, wrapped."""
        shown = {name: one.callback for name, one in self.later.items() if not one.hidden}
        helps = {name: getdoc(function) for name, function in shown.items()}
        helps |= {name: group.help for name, group in self._groups.items()}
        rows = [(name, " ".join((text or "").split("\n\n")[0].split())) for name, text in helps.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class _Made(Mapping[str, Any]):
    """Commands by name, each made when it is first asked for."""

    def __init__(self, later: Mapping[str, CommandInfo], made: Mapping[str, Any]) -> None:
        self._later = later
        self._made = dict(made)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = get_command_from_info(
                self._later[name], pretty_exceptions_short=True, rich_markup_mode=None
            )
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._later, *self._made]))

    def __len__(self) -> int:
        return len(self._later.keys() | self._made.keys())


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return the shell completion of an argument that takes one of these words."""
    return lambda incomplete: [word for word in choices if word.startswith(incomplete)]


def at_home(value: Any) -> Any:
    """Replace ``~`` in paths by the home folder; a shell does not do so inside quotes."""
    if isinstance(value, list | tuple):
        return [at_home(path) for path in value]
    return value and Path(os.path.expanduser(value))


def loaded(file: Path, settings: list[str] | None, seed: int | None) -> Any:
    """Load a scenario with the values of ``--set`` and ``--seed``."""
    from ..scenario import load

    return load(file, [*(settings or []), *([] if seed is None else [f"seed={seed}"])])


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Scenario: TOML, YAML or JSON.", show_default=False, callback=at_home
    ),
]
RequirementsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Requirements: TOML, YAML or JSON.", show_default=False, callback=at_home
    ),
]
Finalists = Annotated[
    int, typer.Option("--finalists", metavar="N", min=1, max=50, help="Most networks to list.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Change a setting, such as traffic.load=0.3; repeatable."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**63 - 1, help="Seed of all random streams."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write results and report.html here.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier result of fabriloom.")]
ForceFile = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Csv = Annotated[bool, typer.Option("--csv", help="With --out: write every table as CSV too.")]
Loads = Annotated[
    str | None, typer.Option("--loads", metavar="LOAD,LOAD…", help="Offered loads, such as 0.1,0.3,0.5.")
]
CurvePoints = Annotated[
    int | None,
    typer.Option(
        "--points",
        metavar="N",
        min=4,
        max=500,
        help="Number of loads: first --loads, or a few from 10 to 100 %, then more where the curve bends.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, max=1024, help="Parallel runs.")]
Fault = Annotated[
    str | None,
    typer.Option(
        "--fault",
        metavar="WHAT",
        help="Try every single failure of cables, switches or all.",
        autocompletion=words("all", "cables", "switches"),
    ),
]
Bisection = Annotated[
    int,
    typer.Option(
        "--bisection",
        metavar="N",
        min=0,
        max=100_000,
        help="Estimate the effective bisection bandwidth from N random pairings of the terminals.",
    ),
]
Resolved = Annotated[
    bool, typer.Option("--resolved", help="Also print the scenario with every default filled in.")
]
Ranks = Annotated[
    int | None,
    typer.Option(
        "--ranks",
        metavar="N",
        min=1,
        max=2**20,
        help="Most processes; each terminal that takes part needs one.",
    ),
]
Hosts = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        metavar="FILE",
        help="Host file, one machine per line: name:processes.",
        callback=at_home,
    ),
]
WarmUps = Annotated[
    int, typer.Option("--warm-ups", metavar="N", min=0, max=1000, help="Rounds before the measurement.")
]
Rounds = Annotated[
    int,
    typer.Option("--rounds", metavar="N", min=1, max=1000, help="Measured rounds; the median is reported."),
]
Oversubscribe = Annotated[
    bool,
    typer.Option(
        "--oversubscribe", help="Allow more processes than cores, as a test only: times mean nothing."
    ),
]
Patience = Annotated[
    int,
    typer.Option(
        "--patience", metavar="S", min=1, max=10**6, help="Give up after S seconds without progress."
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE.json",
        help="Write the proof that the routing cannot deadlock.",
        callback=at_home,
    ),
]
CheckCertificate = Annotated[
    Path | None,
    typer.Option(
        "--check", metavar="FILE.json", help="Check a proof against this network.", callback=at_home
    ),
]
Tries = Annotated[
    int,
    typer.Option(
        "--tries", metavar="N", min=0, max=10**6, help="Runs per flow in the search for its longest delay."
    ),
]
FlowEnds = Annotated[
    str | None,
    typer.Option("--flow", metavar="SOURCE:TARGET", help="Show the parts of the bound of this flow."),
]
Form = Annotated[
    str,
    typer.Option(
        "--format", metavar="svg|pdf|png", help="File format.", autocompletion=words("svg", "pdf", "png")
    ),
]
Runner = Annotated[
    str,
    typer.Option(
        "--runner",
        metavar="auto|c|python",
        help="Program that runs on each rank; auto: the one in C, if it can be compiled.",
        autocompletion=words("auto", "c", "python"),
    ),
]
Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="cluster, clos, event-builder, grid, noc, sci or spacewire.",
        autocompletion=words("cluster", "clos", "event-builder", "grid", "noc", "sci", "spacewire"),
    ),
]
Definition = Annotated[
    str,
    typer.Option(
        "--definition",
        metavar="peak|backlog",
        help="peak: largest accepted throughput over all loads; backlog: throughput with sources that "
        "always have a packet.",
        autocompletion=words("peak", "backlog"),
    ),
]

"""The frame of a command: the options that commands share, its folder, its output, its errors, its exit code.

A command is a function in a file of ``commands``. Its first parameter is the :class:`Call`, which has the
options that :func:`command` names; the others are its own.
"""

from __future__ import annotations

import inspect
import json as jsonlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, getdoc
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

import fabriloom

from . import exits
from .exits import Mistake, say
from .house import Compiled, Output, Scenario, compile, ends, folders, output, show, silent

# The options that several commands share, each defined once.


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return the shell completion of an argument that takes one of these words."""
    return lambda incomplete: [word for word in choices if word.startswith(incomplete)]


def at_home(value: Any) -> Any:
    """Replace ``~`` in paths by the home folder; a shell does not do so inside quotes."""
    if isinstance(value, list | tuple):
        return [at_home(path) for path in value]
    return value and Path(os.path.expanduser(value))


def path_argument(metavar: str, help: str) -> Any:
    """Return an argument that is a path, or several."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, callback=at_home)


def option(said: str, help: str, *more: str, **settings: Any) -> Any:
    """Return an option such as ``"--seed N"``; ``more``: other names; ``settings``: of ``typer.Option``."""
    name, metavar = said.split()
    return typer.Option(*more, name, metavar=metavar, help=help, **settings)


def flag(name: str, help: str) -> Any:
    """Return an option without a value."""
    return typer.Option(name, help=help)


def path_option(said: str, help: str, *more: str) -> Any:
    """Return an option that takes a path, see :func:`option`."""
    return option(said, help, *more, callback=at_home)


File = Annotated[Path, path_argument("FILE", "Scenario: TOML, YAML or JSON.")]
Set = Annotated[
    list[str] | None,
    option("--set PATH=VALUE", "Change a setting, such as traffic.load=0.3; repeatable."),
]
Seed = Annotated[int | None, option("--seed N", "Seed of all random streams.", min=0, max=2**63 - 1)]
Json = Annotated[bool, flag("--json", "Print JSON and nothing else.")]
Out = Annotated[Path | None, option("--out DIR", "Write all that comes out into this folder.")]
Force = Annotated[bool, flag("--force", "Replace an earlier result of fabriloom.")]
ForceFile = Annotated[bool, flag("--force", "Replace an existing file.")]
Csv = Annotated[bool, flag("--csv", "With --out: write every table as CSV too.")]
Loads = Annotated[str | None, option("--loads LOAD,LOAD…", "Offered loads, such as 0.1,0.3,0.5.")]
Jobs = Annotated[int, option("--jobs N", "Parallel runs.", "-j", min=1, max=1024)]


SHARED = {
    name: Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, annotation, default in (
        ("file", File, Parameter.empty),
        ("settings", Set, None),
        ("seed", Seed, None),
        ("jobs", Jobs, 2),
        ("json", Json, False),
        ("out", Out, None),
        ("force", Force, False),
        ("csv", Csv, False),
    )
}
"""What a command may ask for by name, see ``frame.command``."""


# Groups of commands: each command is made when it is asked for, since the options of all take long.


_DONE_BY = {
    "report": "run, curve, compare or check with --out, which writes report.html",
    "what-if": "check FILE --fault all",
    "faults": "check FILE --fault all",
    "validate": "check",
    "simulate": "run",
    "sweep": "curve, or study for many points",
    "view": "page, or draw for a picture",
    "convert": "import",
}
"""Commands of other programs, and what does the same here."""


class Commands(TyperGroup):
    """The commands of ``fabriloom``.

    The help shows the whole first sentence of each command: the library cuts it off.
    """

    later: ClassVar[dict[str, CommandInfo]] = {}
    """The commands by name, before they are made."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Take the settings of a group; ``commands`` are those that are made already, the groups in it."""
        super().__init__(*arguments, **settings)
        self._groups = dict(self.commands)
        self.commands = _Made(self.later, self._groups)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is asked for, or say which one does what a word of others means."""
        if args and args[0] in _DONE_BY and args[0] not in self.commands:
            ctx.fail(f"No such command '{args[0]}': use {_DONE_BY[args[0]]}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one entry per command, wrapped."""
        shown = {name: one.callback for name, one in self.later.items() if not one.hidden}
        helps = {name: getdoc(function) for name, function in shown.items()}
        helps |= {name: group.help for name, group in self._groups.items()}
        rows = [(name, " ".join((text or "").split("\n\n")[0].split())) for name, text in helps.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class StudyCommands(Commands):
    """The commands of ``fabriloom study``."""

    later: ClassVar[dict[str, CommandInfo]] = {}


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


Function = Callable[..., int | None]


@dataclass
class Call:
    """One call of a command."""

    command: str
    file: Path = Path()
    settings: list[str] | None = None
    seed: int | None = None
    jobs: int = 2
    json: bool = False
    out: Path | None = None
    force: bool = False
    csv: bool = False
    folder: Output | None = None
    """Where results are written, within :meth:`output`."""

    def scenario(self, file: Path | None = None) -> Scenario:
        """Load the scenario with the values of ``--set`` and ``--seed``."""
        seed = [] if self.seed is None else [f"seed={self.seed}"]
        return fabriloom.load(file or self.file, [*(self.settings or []), *seed])

    @contextmanager
    def output(self, kept: str = "", forget: bool = False) -> Iterator[Output | None]:
        """Take the folder of ``--out``, if there is one; see :class:`~fabriloom.output.Output`."""
        with folders.taken(self.out, self.command, self.force, kept, forget, self.csv) as self.folder:
            yield self.folder

    @property
    def parallel(self) -> dict[str, Any]:
        """How a study runs: on how many processors, and where it keeps its points."""
        return {"jobs": self.jobs, "out": self.folder and self.folder.kept}

    def tell(self, found: Any, tell: Callable[[], None]) -> None:
        """Print an answer, as JSON or as text."""
        if self.json:
            say(document(found))
        else:
            tell()

    def give(
        self,
        text: Callable[[], str],
        tell: Callable[[], None],
        write: Callable[[Output], None],
        page: str = "report.html",
        finished: bool = True,
    ) -> None:
        """Write a result to its folder, if any, then print it as JSON or as text, even if the disk is full.

        The same command can continue an unfinished result. Printing comes last, because the reader of a pipe
        may go away (`| head`).
        """
        place = None
        try:
            if self.folder is not None:
                with exits.undisturbed():
                    write(self.folder)
                    place = self.folder.finish(finished)
        finally:
            if self.json:
                say(text().rstrip("\n"))
            else:
                tell()
        if place is not None and not self.json:
            place = folders.shown(place)
            say(f"Written to {place}{os.sep}; open {place / page}")

    def give_run(self, results: Any, finished: bool = True, scenario: Scenario | None = None) -> None:
        """Write and print one run; with its scenario, the report plays its packets."""
        for warning in results.summary["warnings"]:
            exits.complain(f"warning: {warning}")
        self.give(
            results.to_json,
            lambda: show.run(results),
            lambda at: folders.write_run(at, results, self.csv, scenario),
            finished=finished,
        )

    def give_study(
        self,
        found: Any,
        html: Callable[[], str],
        tell: Callable[[], None] | None = None,
        text: Callable[[], str] | None = None,
    ) -> None:
        """Write and print a study of several runs, as JSON (``text``, or its summary) or as text."""
        self.give(
            text or found.to_json,
            tell or (lambda: show.curve(found)),
            lambda at: folders.write_study(at, found, html(), self.csv),
            finished=not found.interrupted,
        )

    def code_of(self, found: Any) -> int:
        """Return the exit code of a study of several runs."""
        if found.interrupted:
            exits.complain(interrupted(len(found.points), self.folder))
            return exits.INTERRUPTED
        return code_of_ends([point.summary["end"] for point in found.points])


def document(value: Any) -> str:
    """Return a value as JSON that people can read."""
    return jsonlib.dumps(value, indent=2, ensure_ascii=False)


def interrupted(finished: int, folder: object | None) -> str:
    """Return the message about a study that Ctrl-C ended after some finished runs."""
    found = {0: "no run was finished", 1: "1 run was finished, and only it is shown"}
    many = f"{finished} runs were finished, and only they are shown"
    again = "" if folder is None else " The same command continues from here."
    return f"Interrupted: {found.get(finished, many)}.{again}"


def code_of_ends(found: Sequence[Mapping[str, Any]]) -> int:
    """Return the exit code of runs by their ends; report a fault of the engine on standard error as well."""
    for end in found:
        if end["reason"] == "stalled":
            exits.complain(f"fault: {end['message']}")
            return exits.FAULT
    reasons = {end["reason"] for end in found}
    if "interrupted" in reasons:
        return exits.INTERRUPTED
    return exits.OK if reasons.isdisjoint(ends.STUCK) else exits.DEADLOCK


def compiled(scenario: Scenario) -> Compiled:
    """Compile a scenario, and name the settings that change nothing in it."""
    found = compile.compile(scenario)
    for warning in silent.silent_settings(found):
        exits.complain(f"warning: {warning}")
    return found


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


HTML = (".html", ".htm")


def check_file(
    file: Path, force: bool, option: str = "", what: str = "", suffixes: Sequence[str] = ()
) -> None:
    """Raise Mistake if a file that is to be written is there already and ``--force`` is not given, or if its
    name says something else than ``what`` it is.
    """
    before = f"{option} " if option else ""
    if suffixes and file.suffix.lower() not in suffixes:
        raise Mistake(f"{before}{file}: {what}; name it {file.with_suffix(suffixes[0]).name}")
    if os.path.lexists(file) and not force:
        raise Mistake(f"{before}{file}: the file exists; name another one, or add --force to replace it")


def write_file(file: Path, text: str) -> int:
    """Write a text, whole or not at all; return its bytes."""
    content = output.encoded(text)
    with exits.undisturbed(), output.file(file) as out:
        out.write(content)
    return len(content)


def command(
    first: str = "", last: str = "", name: str = "", group: type[Commands] = Commands, hidden: bool = False
) -> Callable[[Function], Function]:
    """Return a decorator that adds a function as a command.

    ``first`` and ``last``: the shared options before and after those of the function, of :data:`SHARED`.
    """

    def add(function: Function) -> Function:
        own = list(inspect.signature(function).parameters.values())[1:]
        hints = get_type_hints(function, include_extras=True)
        own = [one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        shared = [[SHARED[one] for one in words.split()] for words in (first, last)]
        taken = {one.name for each in shared for one in each}
        named = name or function.__name__

        def call(**given: Any) -> int | None:
            ours = {key: value for key, value in given.items() if key in taken}
            return function(Call(named, **ours), **{key: given[key] for key in given.keys() - taken})

        entry = exits.guarded(call)
        entry.__doc__ = function.__doc__
        parameters = [*shared[0], *own, *shared[1]]
        entry.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        entry.__annotations__ = {one.name: one.annotation for one in parameters}
        group.later[named] = CommandInfo(named, callback=entry, hidden=hidden)
        return function

    return add

"""Groups of commands: each command is made when it is asked for, since the options of all take long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import getdoc
from typing import Any, ClassVar

from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo


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

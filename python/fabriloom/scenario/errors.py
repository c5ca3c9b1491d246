"""The error for a user's mistake: what is wrong, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from fabriloom.reading.errors import UserError

_WIDEST = 160
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """A part of a line of a file, or of a ``--set`` argument (then ``line`` is 0)."""

    file: str
    line: int
    column: int
    """Column, from 1, in characters."""
    length: int
    text: str
    """Text of the whole line."""

    def head(self) -> str:
        """Return ``file:line:column``, as compilers write it."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def picture(self) -> list[str]:
        """Return the line, with carets below the part."""
        number = str(self.line) if self.line else ""
        text, column = self.text.rstrip("\r\n"), max(1, self.column)
        if len(text) > _WIDEST:
            start = max(0, min(column - 1 - _WIDEST // 3, len(text) - _WIDEST))
            text, column = "…" + text[start : start + _WIDEST] + "…", column - start + 1
        text = "".join(c if c.isprintable() or c == "\t" else " " if c.isspace() else "\ufffd" for c in text)
        pad = "".join("\t" if c == "\t" else " " for c in text[: column - 1]).ljust(column - 1)
        carets = "^" * max(1, min(self.length, len(text) - column + 1))
        margin = " " * len(number)
        return [f"{margin} |", f"{number} | {text}", f"{margin} | {pad}{carets}"]


class ScenarioError(UserError):
    """A scenario that cannot be used. ``str()`` is the whole message for the user.

    ``path``: the setting (``("traffic", "load")``). ``place``: the place in the file. ``hint``: what to do.
    ``others``: further mistakes found in the same reading.
    """

    def __init__(
        self,
        message: str,
        path: Path | None = None,
        hint: str = "",
        place: Place | None = None,
        file: str = "",
        others: tuple[ScenarioError, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint
        self.place = place
        self.file = place.file if place else file
        self.others = others
        self.unknown_key = False
        self.unplaced = 0
        """Number of further mistakes without a place."""

    def __str__(self) -> str:
        shown = [self._block()]
        shown += [other._block() for other in self.others[:2]]
        left = len(self.others[2:]) + self.unplaced
        if left:
            shown.append(f"and {left} more mistake{'s' if left > 1 else ''}")
        return "\n\n".join(shown)

    def _block(self) -> str:
        head = self.place.head() if self.place else self.file
        lines = [f"{head}: {self.message}" if head else self.message]
        if self.place:
            lines += self.place.picture()
        if self.hint:
            margin = " " * len(str(self.place.line)) if self.place and self.place.line else ""
            lines.append(f"{margin} = {self.hint}" if self.place else f"  {self.hint}")
        return "\n".join(lines).encode("utf-8", "replace").decode()  # half a character cannot be printed

    def in_file(self, file: str) -> ScenarioError:
        """Return the error with ``file`` as its place, unless it has a place already."""
        if not self.place and not self.file:
            self.file = file
        return self

    def __reduce__(self) -> tuple[object, ...]:
        arguments = (self.message, self.path, self.hint, self.place, self.file, self.others)
        return (type(self), arguments)

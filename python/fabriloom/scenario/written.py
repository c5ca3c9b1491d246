"""Values of a file with their places: the common part of scenarios and requirements."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from pydantic import PrivateAttr

from fabriloom.scenario.errors import Path, ScenarioError
from fabriloom.scenario.fields import Section
from fabriloom.scenario.source import SourceMap


class Written(Section):
    """A file: its values as written, and the place of each."""

    _raw: dict[str, Any] = PrivateAttr(default_factory=dict)
    _source: SourceMap = PrivateAttr(default_factory=SourceMap)
    _base_dir: FilePath = PrivateAttr(default_factory=FilePath)

    def _read_from(self, raw: dict[str, Any], source: SourceMap, base_dir: FilePath) -> None:
        """Store the data, their source and their folder after the checks."""
        self._raw, self._source, self._base_dir = raw, source, base_dir

    @property
    def raw(self) -> dict[str, Any]:
        """The data as written; do not change them."""
        return self._raw

    @property
    def source(self) -> SourceMap:
        """The places of the values in the file."""
        return self._source

    @property
    def base_dir(self) -> FilePath:
        """Folder to which paths in the file are relative."""
        return self._base_dir

    def error(
        self, message: str, path: Path | None = None, hint: str = "", key: bool = False
    ) -> ScenarioError:
        """Return an error that points at the value, or the key, at a dotted path of this file."""
        place = self._source.place(path, key) if path else None
        tried = [override for override in self._source.overrides if override.written not in (None, place)]
        if tried:
            values = " and ".join(f"{override.key} = {override.value}" for override in tried)
            hint = f"{hint}; tried with {values}" if hint else f"tried with {values}"
        return ScenarioError(message, path, hint, place, self._source.file)

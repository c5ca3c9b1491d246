"""Notes of jobs of an array: which points of a study they have stored.

A job has no lock and does not touch the index. A point does not say of which study it is, so each job leaves
a small file, from which ``study status`` and ``show`` count what is there. A note that is missing or broken
costs nothing: ``resume`` finds every point by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..output import encoded, file

NOTES = "notes"


@dataclass
class Note:
    """What one job has stored of one study."""

    folder: Path
    fingerprint: str
    """Of the study, see ``folder.Asked``."""
    part: str
    contents: list[tuple[int, str]] = field(default_factory=list)
    """Number and content of each point."""

    def write(self) -> None:
        """Have it in its file, whole. Raises OSError."""
        place = self.folder / NOTES
        place.mkdir(exist_ok=True)
        with file(place / f"{self.fingerprint[:16]}-{self.part}.json") as out:
            text = json.dumps({"study": self.fingerprint, "contents": self.contents}, separators=(",", ":"))
            out.write(encoded(text))


def noted(folder: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Per note the study and its points; notes that are not whole are left out."""
    for path in sorted((folder / NOTES).glob("*.json")):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            yield str(found["study"]), [(int(number), str(content)) for number, content in found["contents"]]
        except (OSError, ValueError, KeyError, TypeError):
            continue

"""Notes of the jobs of an array: the points of a study that they have stored.

A job has no lock and does not write the index. A point does not contain the name of its study, so each job
writes a small file, from which ``study status`` and ``show`` count the finished points. A missing or broken
note does no harm: ``resume`` finds every point without it.
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
    """The points that one job has stored for one study."""

    folder: Path
    fingerprint: str
    """Fingerprint of the study, see ``folder.Asked``."""
    part: str
    contents: list[tuple[int, str]] = field(default_factory=list)
    """Number and content hash of each point."""

    def write(self) -> None:
        """Write the note to its file, atomically. Raises OSError."""
        place = self.folder / NOTES
        place.mkdir(exist_ok=True)
        with file(place / f"{self.fingerprint[:16]}-{self.part}.json") as out:
            text = json.dumps({"study": self.fingerprint, "contents": self.contents}, separators=(",", ":"))
            out.write(encoded(text))


def noted(folder: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Return the study and the points of every complete note."""
    for path in sorted((folder / NOTES).glob("*.json")):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            yield str(found["study"]), [(int(number), str(content)) for number, content in found["contents"]]
        except (OSError, ValueError, KeyError, TypeError):
            continue

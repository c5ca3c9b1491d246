"""Words that are not written: phrases that read as translated, each with what this field says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KINDS = {".md", ".py", ".toml", ".html", ".js", ".j2"}
QUOTED = ("python/fabriloom/published/", "crates/", "benches/", "tests/")
"""Words of others, and what no user reads."""

PHRASES = {
    r"foregone": "known in advance",
    r"\bin the mean\b": "on average",
    r"ways? of (?:a|the|its|their) (?:packet|request)s?": "path",
    r"on their ways": "under way",
    r"\bso many\b": "this many, or the number",
    r"\b(?:is|are) told\b": "is reported, or is known",
    r"as it goes on": "while it runs",
    r"and still wait": "waiting",
    r"hang together": "are correlated",
    r"stands in the row": "the row gives",
    r"wavers about": "fluctuates about",
    r"\bhangs? on\b": "depends on",
    r"\b(?:say|says) by (?:itself|themselves)\b": "sets its own times",
    r"comes? out by (?:itself|themselves)": "follows from the model",
    r"\bgoes on from (?:here|there)": "continues from here",
    r"beyond all measure": "too large",
    r"nothing of yours": "your files are never",
    r"worth having\b": "useful",
    r"shorter way round": "shorter direction",
    r"write over it": "replace it",
    r"\bcare for\b": "need, or depend on",
    r"has the wait at the source in it": "includes the wait at the source",
    r"is made anew": "is rebuilt",
    r"in (?:the )?place of\b": "instead of",
    r"served to set": "was used to set",
    r"the other way round": "say what is the case",
    r"\bnow and then\b": "from time to time",
    r"learned on the way": "found by earlier runs",
    r"dearer": "more expensive",
    r"lets a time pass": "waits",
    r"\bnumbered through\b": "have consecutive numbers",
    r"\bworked out\b": "computed",
    r"come back to": "return to",
    r"\bso long after\b": "within this time after",
    r"from (?:the|its|their) making": "from the creation of",
    r"whatever the network does": "independently of the network, or open loop",
    r"with what there is\b": "with partial results",
    r"what there is to be": "say what it is",
    r"\b(?:takes?|taken) (?:\w+ ){0,3}up again": "continue, or resume",
    r"\blets? go of\b": "release",
    r"dealt out": "assigned in turn, or distributed",
    r"cannot be had": "is unknown",
    r"go(?:es)? on without": "continues without",
    r"hang that many": "attach that many",
    r"the same back\b": "say what is returned",
    r"\bmade anew\b": "rebuilt, or new",
    r"while (?:it|they) runs? too": "also while it runs",
}


def texts() -> list[Path]:
    """What people read: documentation, and the text and code that prints."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.splitlines() if not name.startswith(QUOTED)]
    return [path for path in paths if path.suffix in KINDS and "vendor" not in path.parts and path.is_file()]


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_not_written(phrase: str) -> None:
    found = []
    for path in texts():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(phrase, line, re.IGNORECASE):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    assert not found, f"write “{PHRASES[phrase]}”:\n" + "\n".join(found)


COLUMNS = 120
GENERATED = {
    f"docs/reference/{name}.md"
    for name in ("errors", "python", "requirements", "results", "scenario", "technologies")
}
"""Pages that a program writes, beside those of ``docs/generated`` and ``docs/reproduction``."""
FENCE = re.compile(r"\s*(```|~~~)")
NO_PROSE = re.compile(r"\s*(\||#|!\[|<!--)|    ")
"""The beginning of a row, a heading, a picture, a mark or code; nobody can wrap these."""


def long_lines(path: Path) -> list[str]:
    """Lines of prose that are longer than they may be; a word that is longer by itself is left alone."""
    found, code = [], False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            code = not code
        elif not code and not NO_PROSE.match(line) and len(line) > COLUMNS and " " in line.strip(" *-"):
            found.append(f"{path.relative_to(ROOT)}:{number}: {len(line)} columns")
    return found


def test_prose_is_wrapped_alike() -> None:
    pages = [path for path in texts() if path.suffix == ".md"]
    written = [path for path in pages if str(path.relative_to(ROOT)) not in GENERATED]
    hand = [path for path in written if not {"generated", "reproduction"} & set(path.parts)]
    assert not [line for path in hand for line in long_lines(path)], f"wrap prose at {COLUMNS} columns"

"""Words that are not written: phrases that read as translated, each with what this field says."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KINDS = {".md", ".py", ".toml", ".html", ".js", ".j2", ".rs"}
QUOTED = ("papers/fabriloom_papers/published/", "benches/", "tests/")
"""Words of others, and what no user reads."""
COMMENT = re.compile(r"//[/!]? ?(.*)$")
"""Of Rust files only comments are read."""

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
    r"\bto be looked at\b|\bbe looked at (?:at|again|when|in)\b": "is checked",
    r"\bwhat (?:became|becomes|comes) of\b": "what happens to, or the result of",
    r"\bcounting anew\b": "resets the counts",
    r"\bone behind the other\b": "one after the other, or in a row",
    r"\bstands? whole\b": "is complete",
    r"\b(?:un)?equally many\b": "the same number of, or different numbers of",
    r"\bof which nothing\b": "say what it has not",
    r"\bon the mean\b": "on average",
    r"\bbeforehand\b": "in advance",
    r"\btakes? nothing\b": "is stuck, or accepts no packets",
    r"(?<!\.)\ball else\b": "everything else, or all others",
    r"\bthrows? .{1,20} away\b": "discards",
    r"\btaken up\b": "occupied",
    r"\bgoes? round\b": "circulates, or loops",
    r"\bin a circle\b": "in a cycle",
    r"\bthrown away\b": "discarded",
    r"\bfor so long\b|\bso long a\b": "for this time, or of this length",
    r"\bto be had\b": "available",
    r"\bwhoever\b": "the one that",
    r"\bin its stead\b": "instead",
    r"\bin the making\b": "under construction",
    r"\bput in order\b": "sorted",
    r"\bdoes without\b": "does not need",
    r"\bof one's own\b": "your own",
    r"\ball there is\b": "everything",
    r"\bwritten down\b": "stored, or recorded",
    r"\btakes what comes\b": "accepts everything",
    r"\btold (?:here|before|of)\b": "stored here, or reported",
    r"\bas a rule\b": "usually",
    r"\bnobody knows\b": "is unknown",
    r"\bfound out\b": "determined",
}


def texts() -> list[Path]:
    """Return the files that people read: documentation, code that prints, and code with comments."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.splitlines() if not name.startswith(QUOTED)]
    return [path for path in paths if path.suffix in KINDS and "vendor" not in path.parts and path.is_file()]


@cache
def lines() -> list[tuple[str, str]]:
    """Return every line that people read with its place."""
    found = []
    for path in texts():
        name, rust = path.relative_to(ROOT), path.suffix == ".rs"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            comment = COMMENT.search(line) if rust else None
            if comment or not rust:
                found.append((f"{name}:{number}", comment.group(1) if comment else line))
    return found


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_not_written(phrase: str) -> None:
    banned = re.compile(phrase, re.IGNORECASE)
    found = [f"{place}: {line.strip()[:120]}" for place, line in lines() if banned.search(line)]
    assert not found, f"write “{PHRASES[phrase]}”:\n" + "\n".join(found)


def test_of_rust_only_comments_are_read() -> None:
    assert COMMENT.search("    //! A page.")
    assert not COMMENT.search("let told = 1 / 2;")
    found = dict(lines())
    assert found["crates/engine/src/kernel/mod.rs:1"].startswith("Time, the order of events")
    assert not any(line.startswith("pub fn") for place, line in found.items() if ".rs:" in place)


COLUMNS = 120
GENERATED = {
    f"docs/reference/{name}.md" for name in ("python", "requirements", "results", "scenario", "technologies")
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

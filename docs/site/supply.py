"""Writes what Fabriloom is made of: the table of dependencies, and a list for machines (CycloneDX).

``python docs/site/supply.py docs/reference/dependencies.csv`` writes the table, a name in ``.json`` the list.
Versions are those of the lock files, licences what packages say of themselves. No network is used.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
_SHORT = 40
"""Longest licence that is a name, not its text."""
_USED = {
    "": "the command",
    "cluster": "studies on clusters",
    "measure": "measuring programs",
    "notebook": "notebooks",
    "pandas": "`to_pandas()`",
    "search": "searches",
    "dev": "tests and documents",
}
"""What each file of requirements is for, by the end of its name."""
_SHIPPED = ("the command", "the engine")
_COLUMNS = ("language", "package", "version", "licence", "for")
_LANGUAGE = {"pypi": "Python", "cargo": "Rust"}


@dataclass(frozen=True)
class Part:
    """A package that something of Fabriloom needs."""

    kind: str
    name: str
    version: str
    licence: str
    used: str
    sha256: str = ""

    @property
    def purl(self) -> str:
        """Its name for machines."""
        return f"pkg:{self.kind}/{self.name}@{self.version}"


def licence_of(name: str, version: str) -> str:
    """What an installed package of Python says of its licence; empty if it is not there."""
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    if told["Version"] != version:
        return ""
    first = lambda key: (told.get_all(key) or [""])[0]  # noqa: E731
    short = first("License").strip()
    classes = [one.split(" :: ")[-1] for one in told.get_all("Classifier") or [] if one.startswith("License")]
    named = short if 0 < len(short) <= _SHORT and "\n" not in short else ", ".join(sorted(classes))
    return first("License-Expression") or named


def of_python() -> list[Part]:
    """The packages of all files of requirements, each once."""
    used: dict[tuple[str, str], list[str]] = {}
    for end, purpose in _USED.items():
        text = (ROOT / f"requirements{'-' if end else ''}{end}.txt").read_text(encoding="utf-8")
        for name, version in _PIN.findall(text):
            used.setdefault((re.sub(r"[-_.]+", "-", name).lower(), version), []).append(purpose)
    return [
        Part("pypi", name, version, licence_of(name, version), purposes[0])
        for (name, version), purposes in sorted(used.items())
    ]


def _cargo(*words: str) -> str:
    command = ["cargo", *words, "--offline", "--locked"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout


def of_rust() -> list[Part]:
    """The crates of the lock file."""
    told = json.loads(_cargo("metadata", "--format-version", "1"))["packages"]
    licences = {(one["name"], one["version"]): one["license"] or "" for one in told}
    needed = _cargo("tree", "--package", "fabriloom-python", "--edges", "normal", "--prefix", "none")
    shipped = set(re.findall(r"^(\S+) v(\S+)", needed, re.MULTILINE))
    found = []
    for one in tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]:
        if "checksum" in one:
            key = one["name"], one["version"]
            used = "the engine" if key in shipped else "building and testing the engine"
            found.append(Part("cargo", *key, licences[key], used, one["checksum"]))
    return found


def table(parts: list[Part], before: str = "") -> str:
    """The table; a package that is not installed here has the licence of the table before."""
    known = {tuple(row[:3]): row[3] for row in csv.reader(before.splitlines())}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for one in sorted(parts, key=lambda one: list(_LANGUAGE).index(one.kind)):
        key = _LANGUAGE[one.kind], one.name, one.version
        rows.writerow([*key, one.licence or known.get(key, "unknown"), one.used])
    return text.getvalue()


def bill(parts: list[Part]) -> dict[str, Any]:
    """What the command and its engine are made of, in the form of CycloneDX, without time or chance."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
        "version"
    ]
    within = [one for one in parts if one.used in _SHIPPED]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "fabriloom", "version": version}},
        "components": [
            {
                "type": "library",
                "bom-ref": one.purl,
                "name": one.name,
                "version": one.version,
                "purl": one.purl,
                **({"licenses": [{"license": {"name": one.licence}}]} if one.licence else {}),
                **({"hashes": [{"alg": "SHA-256", "content": one.sha256}]} if one.sha256 else {}),
            }
            for one in sorted(within, key=lambda one: one.purl)
        ],
    }


def main(path: Path) -> None:
    """Write the table or, to a file of JSON, the list."""
    parts = [*of_python(), *of_rust()]
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    text = json.dumps(bill(parts), indent=2) + "\n" if path.suffix == ".json" else table(parts, before)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Builds the engine for browsers, where a compiler for WebAssembly is installed.

``python docs/site/engine.py OUT`` writes ``OUT``; without a compiler it says why not, in one line, and writes
nothing. There is one if rustup has the target wasm32-unknown-unknown, or if a Rust comes with the sources of
its library (Debian: rustc-web, rust-web-src), from which cargo then builds that library, too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = "wasm32-unknown-unknown"
NO_COMPILER = "there is no Rust compiler for WebAssembly here"
NO_LINKER = "there is no linker for WebAssembly here, neither rust-lld nor wasm-ld"


def file() -> Path:
    """Where the engine is, once it has been built."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return folder / TARGET / "web" / "fabriloom_web.wasm"


def _sysroots() -> Iterator[tuple[str, Path]]:
    """The compilers of this machine with the folders in which they have their libraries."""
    found = (shutil.which(name) for name in ("rustc", "/usr/bin/rustc"))
    for compiler in dict.fromkeys(one for one in found if one):
        asked = subprocess.run([compiler, "--print", "sysroot"], capture_output=True, text=True)
        if asked.returncode == 0:
            yield compiler, Path(asked.stdout.strip()) / "lib/rustlib"


def _linker(folders: list[Path]) -> str | None:
    """The linker that comes with a Rust, or that of the machine."""
    own = [found for folder in folders for found in folder.glob("*/bin/rust-lld")]
    return str(own[0]) if own else shutil.which("rust-lld") or shutil.which("wasm-ld")


def command() -> tuple[list[str], dict[str, str]] | str:
    """Return the command that builds the engine and its part of the environment, or why there is none."""
    if shutil.which("cargo") is None:
        return NO_COMPILER
    cargo = ["cargo", "build", "--quiet", "--locked", "--target", TARGET, "--profile", "web", "--package"]
    found = list(_sysroots())
    linker = _linker([folder for _, folder in found])
    ready = [one for one in found if (one[1] / TARGET / "lib").is_dir()]
    sources = [one for one in found if (one[1] / "src/rust/library/std").is_dir()]
    if not ready and not sources:
        return NO_COMPILER
    if linker is None:
        return NO_LINKER
    needs = {"RUSTC": (ready or sources)[0][0], "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": linker}
    if ready:
        return [*cargo, "fabriloom-web"], needs
    # A released compiler builds its own library only with this permission.
    return [*cargo, "fabriloom-web", "-Zbuild-std=std,panic_abort"], {**needs, "RUSTC_BOOTSTRAP": "1"}


def build() -> Path | str:
    """Build the engine and return its file, or why it cannot be built."""
    found = command()
    if isinstance(found, str):
        return found
    words, needs = found
    outside = {"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ}
    made = subprocess.run(words, cwd=ROOT, env={**outside, **needs}, capture_output=True, text=True)
    if made.returncode:
        errors = [line for line in made.stderr.splitlines() if line.startswith("error")]
        return f"the engine was not built for WebAssembly: {errors[0] if errors else made.returncode}"
    return file()


if __name__ == "__main__":
    engine = build()
    if isinstance(engine, str):
        print(engine)
    else:
        shutil.copyfile(engine, sys.argv[1])

"""The pages of the site as their tests look at them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results
from page.browser import Browser, Tab

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"


def opened(name: str, chromium: Browser, wasm: Path, folder: Path) -> Tab:
    """The page of a scenario, from a disk, as a reader opens it."""
    gallery = importlib.import_module("gallery")
    (folder / "replays").mkdir()
    gallery.write_scripts(wasm, folder / "replays")
    gallery._frame(ROOT / f"scenarios/{name}.toml", folder, True)
    tab = chromium.tab()
    tab.open((folder / f"replays/{name}.html").as_uri())
    return tab


def move(tab: Tab, label: str, to: int, within: str = "#try") -> None:
    """Move a slider, and wait for the run."""
    tab.js(
        "(() => { globalThis.trying = null;"
        f" const one = document.querySelector('{within} [data-label=\"{label}\"] :is(select, input)');"
        f" one.value = {to}; one.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    )
    tab.until("globalThis.trying")


def agrees(found: dict[str, Any], results: Results) -> None:
    """The numbers of the page are those of a run here."""
    latency = results.summary["latency_ns"]
    assert found["packets"] == results.summary["packets"]["measured"]
    assert found["accepted"] == pytest.approx(results.summary["accepted_mbytes_per_s"])
    wanted = {"mean": "mean", "median": "p50", "p99": "p99", "longest": "max"}
    assert {mine: found[mine] for mine in wanted} == pytest.approx(
        {m: latency[of] for m, of in wanted.items()}
    )

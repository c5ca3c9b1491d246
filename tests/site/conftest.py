"""What the tests of the site share: its programs, and the engine for browsers."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from .pages import SITE


@pytest.fixture(scope="module")
def packed() -> Any:
    """The packer, which is a part of the site and not of the package."""
    sys.path.insert(0, str(SITE))
    yield importlib.import_module("packed")
    sys.path.remove(str(SITE))


@pytest.fixture(scope="session")
def wasm() -> Path:
    """The engine of these sources, where one has been built before: the first time takes minutes."""
    if shutil.which("node") is None:
        pytest.skip("no node here: the engine for browsers is not run")
    sys.path.insert(0, str(SITE))
    engine = importlib.import_module("engine")
    sys.path.remove(str(SITE))
    if not engine.file().is_file():
        pytest.skip("no engine for browsers here: make test-site builds one")
    built = engine.build()
    assert isinstance(built, Path), built
    return built

"""Start child processes of Python that never import from the present folder; protect this process likewise.

``python -m`` and a ``PYTHONPATH`` with an empty entry put the present folder before the standard library: a
file ``numpy.py`` beside a scenario would be executed. This module imports only what is loaded already.
"""

from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_START = (
    "import sys, importlib;"
    "module, *more = sys.argv[1:];"
    "sys.path += [folder for folder in more if folder not in sys.path];"
    "importlib.import_module(module).main()"
)
"""What a child runs. Search order: standard library, installed packages, then the folder of this package."""


def command(module: str) -> list[str]:
    """Return the command line of a child that runs ``main()`` of a module of this package.

    The child is isolated (``-I``): installed packages are searched before the present folder, the folder of
    a script and ``PYTHONPATH``.
    """
    bytecode = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *bytecode, "-c", _START, module, os.path.dirname(_PACKAGE), *_trusted()]


def leave_out_present_folder() -> None:
    """Remove the present folder from the import path; the command calls this first."""
    sys.path[:] = _trusted()


def _trusted() -> list[str]:
    """Return the import path without the present folder; the folder stays if the package lies in it."""
    home = os.path.dirname(_PACKAGE)
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        here = ""
    given = [folder for folder in sys.path if os.path.isabs(folder)]
    return [folder for folder in given if folder == home or os.path.realpath(folder) != here]

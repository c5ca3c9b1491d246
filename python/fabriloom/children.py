"""Child processes of Python, and what this one imports, without the folder in which the user happens to be.

``python -m`` and a ``PYTHONPATH`` with an empty entry put the present folder before the standard library: a
file ``numpy.py`` beside a scenario would be executed. This module imports nothing that is not there already.
"""

from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_START = (
    "import sys, importlib;"
    "module, *more = sys.argv[1:];"
    "sys.path += [folder for folder in more if folder not in sys.path];"
    "importlib.import_module(module).main()"
)
"""What a child runs: the standard library and the installed packages first, then where ours were found."""


def command(module: str) -> list[str]:
    """The command line of a child that runs ``main()`` of a module of this package.

    Isolated (``-I``): neither the present folder, nor that of a script, nor ``PYTHONPATH`` come before what
    is installed, which is searched first.
    """
    bytecode = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *bytecode, "-c", _START, module, os.path.dirname(_PACKAGE), *_trusted()]


def leave_out_present_folder() -> None:
    """From now on nothing is imported from the present folder; the command calls this first."""
    sys.path[:] = _trusted()


def _trusted() -> list[str]:
    """The folders in which modules are looked for, but for the present one; not if the package lies in it."""
    home = os.path.dirname(_PACKAGE)
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        here = ""
    given = [folder for folder in sys.path if os.path.isabs(folder)]
    return [folder for folder in given if folder == home or os.path.realpath(folder) != here]

"""The commands, one file each, in the order of the help; a new one is a file and its name here."""

from importlib import import_module

for _name in (
    *("new", "run", "curve", "compare", "saturate", "measure", "fit", "check", "route", "bound", "design"),
    *("draw", "bring", "replay", "export", "plot", "schema", "reproduce", "page", "study"),
):
    import_module(f".{_name}", __name__)

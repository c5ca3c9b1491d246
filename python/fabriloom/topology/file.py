"""Read and write graph files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from .. import reading
from ..reading import ReadError
from .foreign import foreign
from .graph import AS_SETTINGS, Graph, GraphError
from .raw import RawGraph
from .several import whole_network

FORMATS = ("graphml", "json", "csv")
MAX_FILE_BYTES = 1 << 30


def file(
    path: str | Path,
    format: str | None = None,
    terminals_per_switch: int | None = None,
    sha256: str | None = None,
    attributes: Mapping[str, str] | None = None,
) -> Graph:
    """Read a graph from a GraphML, JSON (node-link) or CSV (edge list) file.

    An unchanged file that :func:`write` made from a family's graph keeps its family; any other file has the
    family "file".

    Args:
        path: the file.
        format: one of ``FORMATS``; None: chosen by the file extension.
        terminals_per_switch: terminals to attach to every switch of a file without terminals.
        sha256: checksum that the file must have.
        attributes: the attributes of the file that have a meaning here, with the unit of their numbers, such
            as ``{"rate": "LinkSpeedRaw bit/s", "delay": "latency us", "node_name": "label"}``.

    Raises:
        GraphError: the file cannot be used; the message gives file and line.
    """
    from . import edge_list, graphml, node_link

    path = Path(path)
    form = _format(path, format)
    content = content_of(path, sha256)
    raw = RawGraph(str(path), foreign=foreign(attributes))
    if form == "graphml":
        graphml.read(raw, content)
    else:
        try:
            text = reading.text_of(content, str(path))
            (node_link if form == "json" else edge_list).read(raw, text)
        except ReadError as error:
            raise read_error(path, error) from None
    return raw.to_graph(0 if terminals_per_switch is None else terminals_per_switch)


def write(graph: Graph, path: str | Path, format: str | None = None) -> None:
    """Write a graph to a file that :func:`file` reads back without loss: names, order, parallel links,
    numbers."""
    from .. import output
    from . import edge_list, graphml, node_link

    path = Path(path)
    form = _format(path, format)
    graph = writable(graph)
    text = {"graphml": graphml.write, "json": node_link.write, "csv": edge_list.write}[form](graph)
    try:
        with output.file(path) as out:
            out.write(output.encoded(text))
    except OSError as error:
        raise GraphError(f"{path}: cannot be written: {error.strerror}", "path") from None


def writable(graph: Graph) -> Graph:
    """Return the graph as a file has it. Raises GraphError for planes, and for rings, which their links alone
    do not describe.
    """
    if not graph.network_kind.cables:
        raise GraphError(AS_SETTINGS, "path")
    return whole_network(graph)


def _format(path: Path, format: str | None) -> str:
    form = format if format is not None else path.suffix.lower().lstrip(".")
    if form not in FORMATS:
        given = (
            f"format is {format!r}"
            if format is not None
            else f'{path}: the extension "{path.suffix}" says no format'
        )
        found = GraphError(
            f"{given}; formats are {', '.join(FORMATS)}", "path" if format is None else "format"
        )
        found.hint = _conversion(path, form)
        raise found
    return form


def _conversion(path: Path, form: str) -> str:
    """Return how a spreadsheet, or networkx, makes a format of ours of one that it reads, if it does."""
    if form in ("xlsx", "xls", "ods"):
        return "save the sheet as CSV"
    if form in ("tsv", "tab", "txt"):
        return 'if it is a list of cables, with tabs or commas between the columns: format = "csv"'
    reads = {"gml": "read_gml", "gexf": "read_gexf", "net": "read_pajek", "dot": "nx_pydot.read_dot"}
    reads |= {"gv": reads["dot"], "edgelist": "read_edgelist", "adjlist": "read_adjlist"}
    if form not in reads:
        return ""
    called = f'networkx.{reads[form]}("{path.name}")'
    return f'convert it in Python: networkx.write_graphml({called}, "{path.stem}.graphml")'


def content_of(path: Path, sha256: str | None) -> bytes:
    """Return the content of a user's file, checked against a checksum if given. Raises GraphError."""
    content = _content(path)
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256.lower():
        message = f"{path}: the file is not the one that was meant: its SHA-256 is {found}, not {sha256}"
        raise GraphError(message, "sha256")
    if not content.strip():
        raise GraphError(f"{path}: the file is empty", "path")
    return content


def _content(path: Path) -> bytes:
    most = f"{MAX_FILE_BYTES:,} bytes"
    try:
        return reading.content(path, MAX_FILE_BYTES, most, "take out what is not needed")
    except ReadError as error:
        raise read_error(path, error) from None


def read_error(path: Path, error: ReadError) -> GraphError:
    """Convert the error for an unreadable file to a GraphError."""
    parts = [str(path), error.where, f"{error.message}; {error.hint}" if error.hint else error.message]
    found = GraphError(": ".join(part for part in parts if part), "path")
    found.message = error.message if error.place else f"{path}: {error.message}"
    found.hint, found.place = error.hint, error.place
    return found

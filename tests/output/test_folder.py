"""Output folders: nothing of the user's is deleted or overwritten, and nothing half looks whole."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fabriloom.output import Output, OutputError, Pieces, Plain, Working, encoded, file, manifest

VERSION = "0"


def taken(out: Path, command: str = "curve", force: bool = False, forget: bool = False) -> Output:
    return Output(out, command, VERSION, force, "points", forget)


def write(folder: Output | Working, name: str, text: str = "x") -> None:
    with folder.file(name) as out:
        out.write(text.encode())


def finished(out: Path, *names: str, whole: bool = True, command: str = "curve") -> Path:
    """A result of ours with files of these names."""
    with taken(out, command, force=True) as folder:
        for name in names:
            write(folder, name)
        for name in names:
            if name.startswith("points/"):
                assert folder.kept is not None
                folder.kept.get(name.removeprefix("points/"))
        return folder.finish(whole)


def tree(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder, links as what they say."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
    return found


def test_nothing_is_there_before_everything_is(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    with taken(out) as folder:
        write(folder, "summary.json")
        write(folder, "points/1.json")
        assert not out.exists()
        folder.kept.get("1.json")
        folder.finish()
    assert set(tree(tmp_path / "a")) == {
        "out", "out/fabriloom.sha256", "out/points", "out/points/1.json", "out/summary.json",
    }  # fmt: skip


def test_the_list_is_one_that_sha256sum_reads(tmp_path: Path) -> None:
    out = finished(tmp_path / "out", "summary.json", "points/1.json")
    text = (out / manifest.NAME).read_text(encoding="utf-8")
    digest = hashlib.sha256(b"x").hexdigest()
    head = "# Written by fabriloom 0: curve, finished"
    assert text.splitlines() == [head, f"{digest}  points/1.json", f"{digest}  summary.json"]


def test_a_folder_of_ones_own_is_refused_with_and_without_force(tmp_path: Path) -> None:
    """``runs`` and ``points`` are no names by which a program may know its own."""
    out = tmp_path / "out"
    for name in ("notes.txt", "runs/precious.json", "points/1.json", "summary.json", "deep/er/file"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine", encoding="utf-8")
    before = tree(tmp_path)
    for force in (False, True):
        with pytest.raises(OutputError, match="which fabriloom did not write; your files are never replaced"):
            taken(out, force=force)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("what", ["new", "changed", "folder", "link", "pipe", "inside", "list"])
def test_force_replaces_only_what_is_proven(tmp_path: Path, what: str) -> None:
    out = finished(tmp_path / "out", "summary.json", "points/1.json")
    if what == "new":
        (out / "notes.txt").write_text("mine", encoding="utf-8")
    elif what == "inside":
        (out / "points" / "mine.json").write_text("mine", encoding="utf-8")
    elif what == "changed":
        (out / "summary.json").write_text("mine", encoding="utf-8")
    elif what == "folder":
        (out / "empty").mkdir()
    elif what == "pipe":
        os.mkfifo(out / "pipe")
    elif what == "list":
        (out / manifest.NAME).unlink()
    else:
        (out / "summary.json").unlink()
        (out / "summary.json").symlink_to(tmp_path / "elsewhere")
    before = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
    with pytest.raises(OutputError, match="did not write"):
        taken(out, force=True)
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*")} == before


def test_force_leaves_no_file_of_the_earlier_result(tmp_path: Path) -> None:
    """The trace of another run beside a new summary would be taken for its own."""
    finished(tmp_path / "out", "summary.json", "trace.parquet")
    with pytest.raises(OutputError, match="an earlier result of curve"):
        taken(tmp_path / "out")
    finished(tmp_path / "out", "summary.json")
    assert set(tree(tmp_path)) == {"out", "out/summary.json", "out/fabriloom.sha256"}


def test_two_commands_do_not_write_one_folder(tmp_path: Path) -> None:
    with taken(tmp_path / "out") as first:
        write(first, "points/1.json")
        (tmp_path / "here").symlink_to(tmp_path)
        for same in (tmp_path / "out", tmp_path / "here" / "out", tmp_path / "x" / ".." / "out"):
            with pytest.raises(OutputError, match="another command is writing there"):
                taken(same)
        write(first, "summary.json")
        first.finish()
    taken(tmp_path / "out", force=True).release()


def test_what_is_unfinished_is_taken_up_by_the_same_command_only(tmp_path: Path) -> None:
    out = finished(tmp_path / "out", "points/1.json", "summary.json", whole=False)
    with pytest.raises(OutputError, match="an earlier result of curve"):
        taken(out, "saturate")
    with taken(out) as folder:
        assert folder.kept is not None
        assert folder.kept.get("1.json") == "x"
        assert folder.kept.get("2.json") is None
        assert (out / "summary.json").exists()
        folder.finish()
    assert (out / "points" / "1.json").exists()
    assert not (out / "summary.json").exists()


def test_pieces_that_were_not_asked_for_are_not_kept(tmp_path: Path) -> None:
    out = finished(tmp_path / "out", "points/1.json", whole=False)
    with taken(out) as folder:
        assert folder.kept is not None
        folder.kept.put("2.json", "y")
        folder.finish()
    assert "out/points/1.json" not in tree(tmp_path)
    assert tree(tmp_path)["out/points/2.json"] == b"y"


def test_pieces_are_forgotten_once_there_is_no_need_of_them(tmp_path: Path) -> None:
    with taken(tmp_path / "out", forget=True) as folder:
        assert folder.kept is not None
        folder.kept.put("1.json", "y")
        write(folder, "summary.json")
        folder.finish()
    assert "out/points" not in tree(tmp_path)


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (lambda out: out.symlink_to(out.parent), "symbolic link"),
        (lambda out: out.symlink_to(out.parent / "nowhere"), "symbolic link"),
        (lambda out: out.write_text("mine"), "there is a file of this name"),
        (lambda out: os.mkfifo(out), "there is a file of this name"),
        (lambda out: out.with_name("out.partial").write_text("mine"), "is in the way"),
        (lambda out: out.with_name("out.partial").symlink_to(out.parent), "is in the way"),
        (lambda out: out.with_name("out.replaced").symlink_to(out.parent), "is in the way"),
        (lambda out: (out.with_name("out.partial") / "mine").mkdir(parents=True), "did not write that"),
        (lambda out: (out.with_name("out.replaced") / "mine").mkdir(parents=True), "is in the way"),
    ],
)
def test_what_is_in_the_way_is_said_and_stays(tmp_path: Path, arrange: object, words: str) -> None:
    assert callable(arrange)
    arrange(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    for force in (False, True):
        with pytest.raises(OutputError, match=words):
            taken(tmp_path / "out", force=force)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_present_folder_and_mounted_disks_are_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    for name in (".", "..", str(tmp_path), "../inner"):
        with pytest.raises(OutputError, match="working folder, which cannot be replaced"):
            taken(Path(name))
    with pytest.raises(OutputError, match="a disk is mounted here"):
        Output(Path("/proc"), "run", VERSION)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "inner"]


def test_the_home_folder_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert finished(Path("~/x"), "summary.json") == tmp_path / "x"
    with pytest.raises(OutputError, match="there is no user nobody-here"):
        taken(Path("~nobody-here/x"))


def test_what_comes_into_the_folder_meanwhile_stays(tmp_path: Path) -> None:
    out = finished(tmp_path / "out", "old.json")
    with taken(out, force=True) as folder:
        write(folder, "new.json")
        (out / "notes.txt").write_text("mine", encoding="utf-8")
        place = folder.finish()
    assert place == tmp_path / "out.2"
    assert (place / "new.json").exists()
    assert (out / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (out / "old.json").exists()


def test_names_on_the_list_lead_nowhere_else(tmp_path: Path) -> None:
    """A list that somebody else wrote may name anything: what is in the folder is looked up in it, not vice
    versa.
    """
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    out = finished(tmp_path / "out", "summary.json")
    digest = hashlib.sha256(b"mine").hexdigest()
    with (out / manifest.NAME).open("a", encoding="utf-8") as listed:
        listed.write(f"{digest}  ../precious\n{digest}  {tmp_path}/precious\n")
    finished(out, "other.json")
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"


KILLED = """
import os, sys
from pathlib import Path
from fabriloom import output
from fabriloom.output import folder, manifest, whole, working
def counting(function, step):
    def inner(*a, **k):
        counting.count += 1
        if counting.count == step:
            os._exit(9)
        return function(*a, **k)
    return inner
def replace(out, step):
    counting.count = 0
    for name in ("open", "mkdir", "rename", "replace", "unlink", "rmdir", "fsync", "write"):
        setattr(os, name, counting((lambda *_: None) if name == "fsync" else getattr(os, name), step))
    with output.Output(out, "curve", "0", True, "points") as taken:
        for piece in ("1.json", "2.json"):
            if taken.kept.get(piece) is None:
                taken.kept.put(piece, "x" * 100)
        for name in ("links.parquet", "summary.json"):
            with taken.file(name) as stream:
                stream.write(b"new")
        taken.finish()
for step, line in enumerate(sys.stdin, 1):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            replace(Path(line.rstrip("\\n")), step)
            code = 0
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Replaces the folders that it is told of, one after another, each in a process that is killed a step later.

All of them are forked from one, because a start takes longer than the rest, and nothing waits for the disk:
what is written outlives a process that is killed.
"""


def test_killed_at_any_step_nothing_half_looks_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call that changes the disk is once the last: then the same command must go on."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killing:
        assert killing.stdin is not None
        assert killing.stdout is not None
        whole = {"links.parquet", "summary.json", manifest.NAME, "points"}
        steps = 0
        for step in range(1, 200):
            out = tmp_path / str(step) / "out"
            finished(out, "summary.json", "trace.json", "points/1.json")
            print(out, file=killing.stdin, flush=True)
            code = int(killing.stdout.readline())
            if code == 0:
                break
            assert code == 9
            steps += 1
            for place in (path for path in (out, out.with_name("out.replaced")) if path.exists()):
                if (place / "summary.json").exists() and place == out:
                    names = {path.name for path in place.iterdir()} - {manifest.LOCK}
                    assert names in (whole, {"summary.json", "trace.json", manifest.NAME, "points"})
                assert not manifest.content(place).foreign
            with taken(out, force=True) as folder:
                assert folder.kept is not None
                write(folder, "summary.json", "after")
                folder.finish()
            assert {path.name for path in out.parent.iterdir()} == {"out"}
            assert (out / "summary.json").read_text(encoding="utf-8") == "after"
        assert steps > 30


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from fabriloom.output import Output\n"
        "taken = Output(Path(sys.argv[1]), 'curve', '0', kept='points')\n"
        "taken.kept.put('1.json', 'x'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], check=False)
    assert (tmp_path / "out.partial" / "points" / "1.json").exists()
    with pytest.raises(OutputError, match="holds an unfinished curve; give that command again, or add"):
        taken(tmp_path / "out", "saturate")
    with taken(tmp_path / "out") as folder:
        assert folder.kept is not None
        assert folder.kept.get("1.json") == "x"


def test_a_single_file_is_whole_and_follows_no_link(tmp_path: Path) -> None:
    path, precious = tmp_path / "net.svg", tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    with file(path) as out:
        out.write(b"old")
    with pytest.raises(TypeError), file(path) as out:
        out.write("a text is no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    path.unlink()
    path.symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"), file(path) as out:
        out.write(b"new")
    assert precious.read_text(encoding="utf-8") == "mine"
    assert {one.name for one in tmp_path.iterdir()} == {"net.svg", "precious"}


def test_half_a_character_is_written_as_its_escape() -> None:
    assert encoded('{"name": "\ud800 ü"}') == '{"name": "\\ud800 ü"}'.encode()


def test_pieces_in_a_plain_folder(tmp_path: Path) -> None:
    pieces = Pieces.at(tmp_path / "points")
    assert pieces.get("1.json") is None
    assert not (tmp_path / "points").exists()
    pieces.put("1.json", "x")
    assert pieces.get("1.json") == "x"
    with Plain(tmp_path).file("other") as out:
        out.write(b"y")
    assert (tmp_path / "other").read_bytes() == b"y"

"""Scenarios to start from: each is right, runs, and says what its settings are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from fabriloom import load, run
from fabriloom.cli import templates
from fabriloom.cli.app import app
from typer.testing import CliRunner

from .test_cli import command


@pytest.mark.parametrize("name", templates.names())
def test_it_runs_as_it_is(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    assert f"next: fabriloom check {path}" in command("new", name, path).stdout
    scenario = load(path, ["run.duration=50 us", "run.precision=0"])
    assert run(scenario.alone()).summary["end"]["reason"] in ("time_limit", "drained", "saturated")


@pytest.mark.parametrize("name", templates.names())
def test_it_says_what_to_do_with_it_and_what_can_be_changed(name: str) -> None:
    text = templates.text(name)
    assert text.startswith("# ")
    assert f"{name}.toml" in text
    assert len(re.findall(r"\S +# ", text)) >= 3
    assert tomllib.loads(text)["name"].startswith("My ")


def test_nothing_of_the_users_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    refused = command("new", "daq", path)
    assert refused.exit_code == 2
    assert "the file exists" in refused.stderr
    assert path.read_text() == "mine"
    assert command("new", "event-builder", path, "--force").exit_code == 0
    assert "mine.toml" in path.read_text()


@pytest.mark.parametrize(
    ("word", "said"),
    [("gird", "did you mean grid?"), ("", "name a kind of network"), ("x", "choose from: cluster")],
)
def test_an_unknown_kind_names_the_others(word: str, said: str) -> None:
    refused = command("new", *([word] if word else []))
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_help_is_not_cut() -> None:
    said = command("--help").stdout
    assert "..." not in said.partition("Commands:")[2]
    assert "--install-completion" in said


def test_a_shell_completes_commands_kinds_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the script that --install-completion writes asks for it."""
    for words, expected in {
        "fabriloom rep": ["replay", "reproduce"],
        "fabriloom new ": templates.names(),
        "fabriloom reproduce m": ["macrame"],
        "fabriloom saturate a.toml --definition ": ["peak", "backlog"],
        "fabriloom study run a.toml --on s": ["slurm"],
    }.items():
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        monkeypatch.setenv("_FABRILOOM_COMPLETE", "complete_bash")
        told = CliRunner().invoke(app, [], prog_name="fabriloom").stdout
        assert sorted(told.split()) == sorted(expected)

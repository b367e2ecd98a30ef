"""Which rules count: codes and their beginnings, pyproject.toml, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ConfigurationError
from penstock.lint import RULES, Finding, LintConfiguration, find_configuration, lint
from tests.lint.programs import planned

DEFAULT = {code for code, rule in RULES.items() if rule.default}


def selected(**values: tuple[str, ...]) -> set[str]:
    configuration = LintConfiguration(**values)  # type: ignore[arg-type]
    return {code for code in RULES if configuration.selects(code)}


def group(beginning: str) -> set[str]:
    return {code for code in RULES if code.startswith(beginning)}


def test_what_is_selected() -> None:
    assert selected() == DEFAULT
    assert selected(select=("ALL",)) == set(RULES) > DEFAULT
    assert selected(select=("PS2",)) == group("PS2")
    assert selected(extend_select=("PS101",)) == DEFAULT | {"PS101"}
    assert selected(ignore=("PS0",)) == DEFAULT - group("PS0")
    assert selected(ignore=("ALL",)) == set()


def test_what_names_a_rule_more_closely_counts() -> None:
    assert selected(select=("PS",), ignore=("PS0",)) == set(RULES) - group("PS0")
    assert selected(select=("PS001",), ignore=("PS0",)) == {"PS001"}
    assert selected(select=("PS0",), ignore=("PS001",)) == group("PS0") - {"PS001"}
    assert selected(select=("PS001",), ignore=("PS001",)) == set()


def test_a_command_line_selects_instead_and_ignores_besides() -> None:
    written = LintConfiguration(ignore=("PS301",), extend_select=("PS101",))
    assert written.with_options((), (), ("PS302",)).ignore == ("PS301", "PS302")
    chosen = written.with_options(("PS3",), ("PS407",), ())
    assert {code for code in RULES if chosen.selects(code)} == group("PS3") | {"PS407"}


@pytest.mark.parametrize("code", ["PS1000", "X", "", "ps001", "PS001 "])
def test_an_unknown_code_is_refused(code: str) -> None:
    with pytest.raises(ConfigurationError, match="names the rule"):
        LintConfiguration(ignore=(code,))


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "jobs" / "daily"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.penstock.lint]\nselect = ["PS3"]\nextend-select = ["PS101"]\nignore = ["PS301"]\nlong-running = true\n'
        'large-capture = 1000\n[tool.penstock.lint.per-file-ignores]\n"jobs/**" = ["PS302"]\n'
    )
    (tmp_path / "jobs" / "pyproject.toml").write_text("[project]\nname = 'jobs'\n")  # says nothing of lints
    configuration = find_configuration(inner / "counts.py")
    assert configuration == LintConfiguration(
        ("PS3",), ("PS101",), ("PS301",), {"jobs/**": ("PS302",)}, True, 1000, tmp_path.resolve()
    )
    assert configuration.ignored_in(str(inner / "counts.py")) == ("PS302",)
    assert configuration.ignored_in(str(tmp_path / "other.py")) == ()


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("selct = []", "selct"),
        ("select = 'PS001'", "list of codes"),
        ("select = [1]", "list of codes"),
        ("select = ['PS999']", "PS999"),
        ("long-running = 1", "long-running"),
        ("large-capture = 0", "large-capture"),
        ("per-file-ignores = []", "per-file-ignores"),
        ("per-file-ignores = {'*.py' = ['PS999']}", "PS999"),
        ("select = [", "cannot be read"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(tmp_path: Path, table: str, reason: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.penstock.lint]\n{table}\n")
    with pytest.raises(ConfigurationError) as refused:
        find_configuration(tmp_path / "counts.py")
    assert reason in str(refused.value)


def total(tmp_path: Path, **values: object) -> list[Finding]:
    """What is found in a program that ends, of a stateful operator without uid, and of a small dict."""
    body = "small = dict.fromkeys(range(100))\nlines.key_by(lambda line: line).map(lambda line: small).print()\n"
    pipeline = planned(tmp_path / "p.py", f"{body}lines.key_by(lambda line: line).reduce(lambda a, b: a).print()")
    return lint(pipeline, LintConfiguration(("PS001", "PS501"), **values))  # type: ignore[arg-type]


def test_a_program_that_ends_needs_no_uids_unless_it_is_said(tmp_path: Path) -> None:
    assert total(tmp_path) == []
    assert [finding.code for finding in total(tmp_path, long_running=True)] == ["PS001"]


def test_what_is_large_can_be_said(tmp_path: Path) -> None:
    assert [finding.code for finding in total(tmp_path, large_capture=2_000)] == ["PS501"]

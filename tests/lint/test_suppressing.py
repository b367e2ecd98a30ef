"""What suppresses findings: comments in the lines of a call, of a file, and what is said of such comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.lint import Finding, LintConfiguration, lint
from penstock.lint.comments import Comments
from tests.lint.programs import planned

RULES = LintConfiguration(("PS502", "PS504", "PS9"))

LOUD = """
def loud(order):{define}
    print(order)
    return order

{file}
(
    orders.map({inside}
        loud
    ){after}
    .print("after"){other}
)
"""


def findings_of(tmp_path: Path, configuration: LintConfiguration = RULES, **comments: str) -> list[Finding]:
    """What is found in a program with comments in some places."""
    places = dict.fromkeys(("define", "file", "inside", "after", "other"), "")
    file = tmp_path / "program.py"
    return lint(planned(file, LOUD.format(**{**places, **comments})), configuration, file=str(file))


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def test_a_finding_has_the_place_of_the_call(tmp_path: Path) -> None:
    (finding,) = findings_of(tmp_path)
    lines = (tmp_path / "program.py").read_text().splitlines()
    assert finding.file == str(tmp_path / "program.py")
    assert lines[(finding.line or 0) - 1] == "    orders.map("
    assert finding.operator == "Map"
    assert str(finding).startswith(f"{finding.file}:{finding.line}: PS502 The function loud of 'Map'")


@pytest.mark.parametrize(
    "comments",
    [
        {"inside": "  # penstock: ignore[PS502]"},
        {"inside": "  # penstock: ignore"},
        {"inside": "  # it is a demonstration  # penstock:ignore[PS5]"},
        {"inside": "  # penstock: ignore [ PS502 ] for the demonstration"},
        {"file": "# penstock: ignore-file[PS502]"},
        {"file": "# penstock: ignore-file"},
    ],
)
def test_a_comment_suppresses(tmp_path: Path, comments: dict[str, str]) -> None:
    assert findings_of(tmp_path, **comments) == []


def test_a_comment_suppresses_where_the_call_ends(tmp_path: Path) -> None:
    import sys

    if sys.version_info >= (3, 11):  # before, nobody knows where a call ends
        assert findings_of(tmp_path, after="  # penstock: ignore[PS502]") == []


@pytest.mark.parametrize("place", ["define", "other"])
def test_a_comment_elsewhere_suppresses_nothing_and_is_found(tmp_path: Path, place: str) -> None:
    assert sorted(codes(findings_of(tmp_path, **{place: "  # penstock: ignore[PS502]"}))) == ["PS502", "PS901"]


def test_each_code_of_a_comment_has_to_be_of_use(tmp_path: Path) -> None:
    (finding,) = findings_of(tmp_path, inside="  # penstock: ignore[PS502, PS504]")
    assert (finding.code, "PS504" in finding.message, "PS502" in finding.message) == ("PS901", True, False)


def test_a_rule_that_is_not_selected_is_not_missed(tmp_path: Path) -> None:
    assert findings_of(tmp_path, inside="  # penstock: ignore[PS502, PS001]") == []


@pytest.mark.parametrize("code", ["PS999", "PS50x", "", "502"])
def test_an_unknown_code_is_found_and_suppresses_nothing(tmp_path: Path, code: str) -> None:
    assert sorted(codes(findings_of(tmp_path, inside=f"  # penstock: ignore[{code}]"))) == ["PS502", "PS902"]


def test_what_a_file_says_can_suppress_what_is_said_of_comments(tmp_path: Path) -> None:
    configuration = LintConfiguration(("PS502", "PS9"), per_file_ignores={"program.py": ("PS901",)}, root=tmp_path)
    assert codes(findings_of(tmp_path, configuration, other="  # penstock: ignore[PS502]")) == ["PS502"]


def test_a_text_that_looks_like_a_comment_is_none() -> None:
    source = 'a = "# penstock: ignore[PS001]"\nb = 1  # penstock: ignore[PS002]\n'
    assert [(comment.line, comment.codes) for comment in Comments(source).all] == [(2, ("PS002",))]


def test_what_is_no_python_is_read_as_far_as_it_goes() -> None:
    assert [comment.line for comment in Comments("# penstock: ignore\nx = (\n'''").all] == [1]
    assert Comments("").all == []

"""Typed user programs, seen as an editor sees them: pyright in its strict mode reads all of them in one run."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import penstock

PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = re.compile(r"# error: (.+)")

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="pyright is not installed")


@pytest.fixture(scope="module")
def broken_rules(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], set[str]]:
    """The rules that pyright found broken, by file and line."""
    config = tmp_path_factory.mktemp("pyright") / "pyrightconfig.json"
    settings = {
        "include": [str(PROGRAMS)],
        "extraPaths": [str(Path(penstock.__file__).parents[1])],
        "pythonVersion": "3.10",
        "typeCheckingMode": "strict",
    }
    config.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(config)]
    command += map(str, sorted(PROGRAMS.glob("*.py")))
    output = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert output["summary"]["filesAnalyzed"] == len(list(PROGRAMS.glob("*.py")))
    rules: dict[tuple[str, int], set[str]] = defaultdict(set)
    for diagnostic in output["generalDiagnostics"]:
        place = Path(diagnostic["file"]).name, diagnostic["range"]["start"]["line"] + 1
        rules[place].add(diagnostic.get("rule", diagnostic["message"]))
    return rules


@pytest.mark.slow
@pytest.mark.parametrize("program", sorted(path.name for path in PROGRAMS.glob("*.py")))
def test_an_editor_reports_what_is_wrong_and_nothing_else(
    program: str, broken_rules: dict[tuple[str, int], set[str]]
) -> None:
    lines = enumerate((PROGRAMS / program).read_text().splitlines(), 1)
    expected = {number: match[1].split() for number, line in lines if (match := EXPECTED.search(line))}
    here = {line: rules for (file, line), rules in broken_rules.items() if file == program}
    assert here.keys() == expected.keys()
    assert not {line: rules for line, rules in here.items() if not rules & set(expected[line])}


def test_the_programs_say_something() -> None:
    text = "".join(path.read_text() for path in PROGRAMS.glob("*.py"))
    assert text.count("assert_type(") > 80
    assert len(EXPECTED.findall(text)) > 30

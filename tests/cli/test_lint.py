"""``penstock lint``: what it prints, its exit status, what it runs twice, and what decides which rules count."""

from __future__ import annotations

import json

import pytest

ENDLESS = """
from penstock.common import WatermarkStrategy
from penstock.datastream.connectors import DataGeneratorSource
numbers = env.from_source(
    DataGeneratorSource(lambda number: number, None), WatermarkStrategy.no_watermarks(), "numbers"
).uid("numbers")
numbers.print()
env.execute()
"""
UNSTABLE = "env.from_collection([1]).uid(f'numbers {hash(\"numbers\")}').print(); env.execute()"


@pytest.fixture
def linted(penstock):
    """Calls ``penstock lint``; the lines that it prints, and its exit status. The second run takes a second."""

    def call(*arguments, once=("--once",)):
        result = penstock("lint", *once, *arguments)
        return result.stdout.splitlines(), result.exit_code

    return call


def test_a_program_without_findings(linted, program):
    assert linted(program("env.from_collection([1]).print(); env.execute()")) == (["Nothing found."], 0)


def test_findings_have_a_line_each_and_status_1(linted, program):
    file = program(ENDLESS)
    (finding, told), status = linted(file)
    number = file.read_text().splitlines().index("numbers.print()") + 1
    assert finding.startswith(f"{file}:{number}: PS401 'Sink: Print to Std. Out' prints records")
    assert (told, status) == ("Found 1 thing.", 1)


def test_options_select_rules(linted, program):
    file = program(ENDLESS)
    assert linted("--ignore", "PS4", file)[1] == 0
    assert linted("--select", "PS0,PS1", "--select", "PS2", file)[1] == 0
    lines, _ = linted("--ignore", "PS401", "--extend-select", "PS408", file)
    assert lines[0].startswith(f"{file}: PS408 The program never ends")  # it has no line
    assert linted("--select", "PS999", file)[1] == 1


def test_pyproject_and_comments_count(linted, program, tmp_path):
    file = program(ENDLESS.replace("numbers.print()", "numbers.print()  # penstock: ignore[PS401]"))
    assert linted(file)[1] == 0
    (tmp_path / "pyproject.toml").write_text("[tool.penstock.lint]\nextend-select = ['PS408']\n")
    assert linted(file)[1] == 1
    file.write_text(f"# penstock: ignore-file[PS408]\n{file.read_text()}")
    assert linted(file)[1] == 0


def test_a_file_has_one_name(linted, program, tmp_path, monkeypatch):
    text = ENDLESS.replace("numbers.print()", "numbers.print()  # penstock: ignore[PS401]")
    program(f"# penstock: ignore-file[PS408]\n{text}")
    monkeypatch.chdir(tmp_path)
    assert linted("--extend-select", "PS408", "program.py") == (["Nothing found."], 0)
    assert linted("--extend-select", "PS408", "../" + tmp_path.name + "/program.py") == (["Nothing found."], 0)


def test_json(linted, program):
    lines, status = linted("--format", "json", program(ENDLESS))
    document = json.loads("\n".join(lines))
    (finding,) = document["findings"]
    assert (document["format"], finding["code"], finding["rule"]) == (1, "PS401", "print-sink-in-endless-program")
    assert status == 1


def test_annotations_of_github(linted, program):
    file = program(ENDLESS.replace("numbers.print()", "numbers.print().name('50%, or\\nmore')"))
    (line,), status = linted("--format", "github", file)
    assert line.startswith(f"::error file={file},line=")
    assert ",title=PS401 (print-sink-in-endless-program)::'Sink: 50%25, or" in line
    assert status == 1
    assert linted("--format", "github", program("env.from_collection([1]).print(); env.execute()", "ok.py")) == ([], 0)


def test_a_uid_that_is_another_one_in_the_next_run(linted, program):
    (finding, _), status = linted(program(UNSTABLE), once=())
    assert " PS004 The uid of 'Source: Collection Source' is 'numbers " in finding
    assert status == 1
    assert linted(program(UNSTABLE)) == (["Nothing found."], 0)


def test_hostile_names_are_harmless_in_a_terminal(linted, program):
    (finding, _), _ = linted(program(ENDLESS.replace(".print()", ".print().name('\\x1b[2J\\u202e\\nPS001')")))
    assert finding.isprintable()


def test_a_program_that_fails_is_told_of_as_by_explain(penstock, program):
    result = penstock("lint", program("env.execute()"))
    assert result.exit_code == 1
    assert "no operators" in result.stderr


def test_the_rules_are_listed_and_explained(linted):
    lines, status = linted("--rules")
    assert lines[0] == "PS001  An operator keeps state and has no uid."
    assert (any(line.startswith("PS101* ") for line in lines), status) == (True, 0)
    page, status = linted("--explain", "PS301")
    assert page[0] == "# PS301 needless-repartition"
    assert "# penstock: ignore[PS301]" in "\n".join(page)
    assert linted("--explain", "PS3")[1] == 2


def test_the_lock_file_beside_the_program_counts(linted, penstock, program):
    text = "numbers = env.from_collection([1]).key_by(lambda n: n, Types.INT())\n"
    text += "numbers.reduce(lambda a, b: a + b).uid('sums').set_max_parallelism(128).print(); env.execute()"
    file = program(text)
    assert penstock("lock", file).exit_code == 0
    assert linted(file)[1] == 0
    (finding, _), status = linted(program(text.replace("128", "256")))
    assert " PS102 'Keyed Reduce' has the max parallelism 256, and 128 in penstock.lock" in finding
    assert status == 1
    (file.parent / "penstock.lock").write_text("no lock")
    assert "penstock.lock" in penstock("lint", file).stderr

"""What ``penstock check`` and ``diff`` say: each edit once, at its line, with what keeps the state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HEAD = """
from penstock.datastream.functions import KeyedProcessFunction
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor

class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count

words = env.from_collection(["a", "b", "a"], type_info=Types.STRING())
"""
TWO = """
upper = words.map(str.upper, Types.STRING())
keyed = upper.key_by(lambda word: word, key_type=Types.STRING())
keyed.process(Count()).name("first").print()
keyed.process(Count()).name("second").print()
env.execute("counts")
"""
FILTERED = TWO.replace("upper = words", "some = words.filter(bool)\nupper = some")
ONE = """
keyed = words.key_by(lambda word: word, key_type=Types.STRING())
keyed.process(Count()).name("count").uid("count").set_max_parallelism(64).print()
env.execute("counts")
"""
RENAMED = '"count", Types.LONG()', '"number", Types.LONG()'
FORMS = ("text", "markdown", "github")


@pytest.fixture
def edited(program, penstock, monkeypatch):
    """Locks a program, then edits it; what a format of ``check`` says of it."""

    def say(before: str, after: str, form: str = "text", status: int = 1) -> str:
        path = program(before, "counts.py")
        monkeypatch.chdir(path.parent)
        locked = penstock("lock", "--accept-loss", "counts.py")
        assert locked.exit_code == 0, locked.stderr
        program(after, "counts.py")
        result = penstock("check", "--format", form, "counts.py")
        assert result.exit_code == status, result.stdout + result.stderr
        return result.stdout

    return say


def line_of(text: str) -> int:
    return 1 + next(n for n, line in enumerate(Path("counts.py").read_text().splitlines()) if text in line)


@pytest.mark.parametrize("form", FORMS)
def test_an_edit_is_named_once_with_all_that_it_moves(edited, form: str) -> None:
    text = edited(HEAD + TWO, HEAD + FILTERED, form)
    assert text.count("is new, and") == 1
    assert text.count("has state under the ID") == 2
    assert text.count(".set_uid_hash(") == 2


def test_an_annotation_stands_at_the_edited_line_and_has_the_fix(edited) -> None:
    (command, verdict) = edited(HEAD + TWO, HEAD + FILTERED, "github").splitlines()
    assert command.startswith(f"::error file=counts.py,line={line_of('words.filter(bool)')},title=orphaned state::")
    first, *rest = command.split("::", 2)[2].split("%0A")
    assert first == "'Filter' is new, and 'Map' reads it"
    assert [command.split(" ")[0] for command in rest] == ["lost:", "lost:", "to", "to"]
    assert f"counts.py:{line_of('first')}  process(…).set_uid_hash(" in rest[2]
    assert verdict == "State of 2 operators would be lost or could not be restored."


def test_json_has_the_fixes_and_the_advice(edited) -> None:
    document = json.loads(edited(HEAD + TWO, HEAD + FILTERED, "json"))
    assert [(fix["operator"], fix["line"]) for fix in document["fixes"]] == [
        ("first", line_of("first")),
        ("second", line_of("second")),
    ]
    assert all(": 'Filter' is new, and 'Map' reads it" in problem["text"] for problem in document["problems"])
    document = json.loads(edited(HEAD + ONE, HEAD.replace(*RENAMED) + ONE, "json"))
    assert [".renamed_from('count')" in problem["advice"] for problem in document["problems"]] == [True]


def test_two_edits_are_two_annotations_with_a_fix_each(edited) -> None:
    both = TWO.replace("env.execute", "words.key_by(len).process(Count()).name('third').uid('a').print()\nenv.execute")
    after = FILTERED.replace(
        "env.execute", "words.key_by(len).process(Count()).name('third').uid('b').print()\nenv.execute"
    )
    *commands, _ = edited(HEAD + both, HEAD + after, "github").splitlines()
    assert [f",line={line_of(line)}," in command for line, command in zip(["filter", "third"], commands, strict=True)]
    assert [command.count("to keep it") for command in commands] == [2, 1]
    assert '.uid("a")  instead of .uid("b")' in commands[1]


REWRITE = "penstock savepoint set-max-parallelism SAVEPOINT NEW count"
EDITS = {
    "a state is renamed": (RENAMED, "ValueStateDescriptor('number', …).renamed_from('count')"),
    "a state has another type": (
        ('"count", Types.LONG()', '"count", Types.STRING()'),
        "ValueStateDescriptor('count', …).migrated_by(function, version=1)",
    ),
    "a state is of another kind": (
        (
            'get_state(ValueStateDescriptor("count", Types.LONG()))',
            'get_list_state(ListStateDescriptor("count", Types.LONG()))',
        ),
        "ListStateDescriptor('count', …).migrated_by(function, version=1)",
    ),
    "a state is gone": (
        ('self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))', "pass"),
        "--allow-non-restored-state",
    ),
    "other key groups": (
        ("set_max_parallelism(64)", "set_max_parallelism(32)"),
        f"set_max_parallelism(64), or have another savepoint made: {REWRITE} 32",
    ),
    "too many subtasks": (
        (".set_max_parallelism(64)", ".set_parallelism(65)"),
        f"lower the parallelism to 64, or have another savepoint made: {REWRITE} 65",
    ),
}


@pytest.mark.parametrize("about", EDITS)
@pytest.mark.parametrize("form", FORMS)
def test_an_edit_that_is_refused_has_advice(edited, about: str, form: str) -> None:
    (old, new), advice = EDITS[about]
    before = HEAD + ONE
    assert old in before
    text = edited(before, before.replace(old, new), form)
    assert advice in (text.replace("\\", "") if form == "markdown" else text)


def test_the_advice_works(edited, penstock, program) -> None:
    """What is advised for a renamed state makes the check pass."""
    edited(HEAD + ONE, HEAD.replace(*RENAMED) + ONE)
    old, new = RENAMED
    mended = HEAD.replace(f"ValueStateDescriptor({old})", f"ValueStateDescriptor({new}).renamed_from('count')")
    program(mended + ONE, "counts.py")
    assert penstock("check", "counts.py").exit_code == 0


def test_an_operator_that_is_gone_may_be_left_behind(edited) -> None:
    text = edited(HEAD + TWO, HEAD + "upper = words.map(str.upper, Types.STRING()).print()\nenv.execute('counts')\n")
    assert text.count("if it is not needed any more, allow that state is left behind: --allow-non-restored-state") == 2


@pytest.mark.parametrize("form", FORMS)
def test_diff_says_the_same(edited, penstock, form: str) -> None:
    edited(HEAD + TWO, HEAD + FILTERED)
    output = penstock("diff", "--format", form, "penstock.lock", "counts.py").stdout
    assert output.count("is new, and") >= 1
    assert output.count(".set_uid_hash(") == 2


FATES = {
    "a state has another type": "blocked",
    "a state is gone": "lost in part",
    "other key groups": "blocked",
    "too many subtasks": "blocked",
}


@pytest.mark.parametrize("about", FATES)
def test_state_that_cannot_be_taken_over_is_not_called_restored(edited, penstock, about: str) -> None:
    old, new = EDITS[about][0]
    table = edited(HEAD + ONE, (HEAD + ONE).replace(old, new), "markdown")
    assert f"| {FATES[about]} |" in table
    assert "| restored |" not in table
    text = penstock("diff", "penstock.lock", "counts.py").stdout
    assert f"  state {FATES[about]}" in text
    assert "state restored" not in text
    [operator] = [
        operator
        for operator in json.loads(penstock("diff", "--format", "json", "penstock.lock", "counts.py").stdout)[
            "operators"
        ]
        if operator["operator"] == "count"
    ]
    assert operator["state"] == FATES[about]


def test_state_of_which_nobody_knows_is_not_called_restored(edited) -> None:
    before = (HEAD + ONE).replace(", key_type=Types.STRING()", "")
    table = edited(before, before.replace('name("count")', 'name("counts")'), "markdown", 0)
    assert "| unknown until it runs |" in table

"""Savepoints with objects of classes that are in the program's own file, as the command reads and edits them."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from cloudpickle.cloudpickle import _DYNAMIC_CLASS_TRACKER_BY_CLASS

PROGRAM = """
from collections.abc import Iterator
from dataclasses import dataclass
from penstock.common import Configuration, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, ValueStateDescriptor
from penstock.datastream.connectors import Records, Source, Split

THING

class Numbers(Source):
    bounded = False
    def splits(self, parallelism):
        return [Split("all", 0, COUNT)]
    def read(self, split):
        for number in range(split.start, split.end):
            yield Records([number], number + 1)

class Keeping(KeyedProcessFunction):
    def open(self, context):
        self.number = context.get_state(ValueStateDescriptor("number", Types.LONG()))
        KEPT
    def process_element(self, value, ctx):
        UPDATE
        self.number.update(value)
        yield value

print("the program runs")
env = StreamExecutionEnvironment.get_execution_environment(
    Configuration.from_dict({"penstock.step.available-now": "true"})
).set_parallelism(1)
stream = env.from_source(Numbers(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
stream.key_by(lambda n: n, Types.LONG()).process(Keeping(), Types.LONG()).uid("many").print()
env.execute("things")
"""
WITH = {
    "COUNT": "3",
    "THING": "@dataclass\nclass Thing:\n    number: int",
    "KEPT": 'self.thing = context.get_state(ValueStateDescriptor("thing"))',
    "UPDATE": "self.thing.update(Thing(value))",
}
WITHOUT = {**dict.fromkeys(WITH, "pass"), "COUNT": "6"}


@pytest.fixture
def job(penstock, program, tmp_path):
    """A program with a class of its own, and the checkpoint directory of a job that has kept objects of it."""

    def written(parts):
        text = PROGRAM
        for name, part in parts.items():
            text = text.replace(name, part)
        return program(text)

    before = written(WITH)
    result = penstock("run", "--local", "--checkpoint-directory", tmp_path / "job", before)
    assert result.exit_code == 0, result.stderr
    for cls in [other for other in _DYNAMIC_CLASS_TRACKER_BY_CLASS if other.__module__ == "__main__"]:
        _DYNAMIC_CLASS_TRACKER_BY_CLASS.pop(cls)  # the next command is another process
    return tmp_path / "job", before, written


def error_text(result):
    return " ".join(result.stderr.split())


def test_read(penstock, job):
    place, file, _ = job
    things = [{"key": number, "value": {"number": number}} for number in range(3)]
    read = ("savepoint", "read")
    result = penstock(*read, "--unpickle", "--program", file, place, "many", "thing")
    assert result.exit_code == 0, result.stderr
    assert sorted(map(json.loads, result.stdout.splitlines()), key=lambda row: row["key"]) == things
    assert "the program runs" in result.stderr
    for options in ((), ("--unpickle",), ("--unpickle", "--program", file)):  # a state whose values are plain
        result = penstock(*read, *options, place, "many", "number")
        assert result.exit_code == 0, result.stderr
        assert len(result.stdout.splitlines()) == 3
    exported = penstock(
        *("savepoint", "export", "--state", "thing", "--format", "json", "--unpickle", "--program", file, place),
        file.parent / "out",
    )
    path = file.parent / "out" / "many" / "states" / "thing.jsonl"
    assert exported.stdout == f"{path}\n", exported.stderr
    assert sorted(map(json.loads, path.read_text().splitlines()), key=lambda row: row["key"]) == things
    missing = penstock(*read, "--unpickle", place, "many", "thing")
    assert missing.exit_code == 1
    assert "objects of the class __main__.Thing, which cannot be found" in error_text(missing)
    assert "It belongs to the program's own file: name that file, --program FILE." in error_text(missing)
    needless = penstock(*read, "--program", file, place, "many", "thing")
    assert (needless.exit_code, "add --unpickle" in needless.stderr) == (2, True)


def test_another_max_parallelism(penstock, job, tmp_path):
    place, file, _ = job
    command = ("savepoint", "set-max-parallelism")
    missing = penstock(*command, "--unpickle", place, tmp_path / "no", "many", "256")
    assert missing.exit_code == 1
    assert "objects of the class __main__.Thing, which cannot be found" in error_text(missing)
    assert "--program FILE" in error_text(missing)
    result = penstock(*command, "--unpickle", "--program", file, place, tmp_path / "new", "many", "256")
    assert result.exit_code == 0, result.stderr
    output = penstock("savepoint", "read", "--unpickle", "--program", file, tmp_path / "new", "many", "thing")
    assert output.stdout.count('"number"') == 3


def test_a_program_without_the_state_and_the_class(penstock, job, tmp_path):
    place, _, written = job
    after = written(WITHOUT)
    begin = ("run", "--local", "--from-savepoint")
    refused = penstock(*begin, place, "--checkpoint-directory", tmp_path / "b", after)
    assert refused.exit_code == 1
    assert "objects of the class __main__.Thing, which the program does not have" in error_text(refused)
    command = re.search(r"that this makes: penstock (savepoint drop .*? many thing)", error_text(refused))
    assert penstock(*shlex.split(command[1])).exit_code == 0
    place_without = shlex.split(command[1])[3]
    assert f"(--from-savepoint {place_without})" in error_text(refused)
    assert penstock(*begin, place_without, "--checkpoint-directory", tmp_path / "c", after).exit_code == 0
    for number, options in enumerate([(), ("--unpickle",)]):
        new = tmp_path / f"new-{number}"
        dropped = penstock("savepoint", "drop", *options, place, new, "many", "thing")
        assert dropped.exit_code == 0, dropped.stderr
        result = penstock(
            "run", "--local", "--from-savepoint", new, "--checkpoint-directory", tmp_path / f"job-{number}", after
        )
        assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_a_state_is_dropped_with_its_class_if_that_is_allowed(penstock, job, tmp_path, backend):
    place, _, written = job
    after = written({**WITHOUT, "env = ": f"BACKEND = {backend!r}\nenv = "})
    text = after.read_text().replace('"true"})', '"true", "penstock.state.backend": BACKEND})')
    after.write_text(text)
    checks = [("check", "--from-savepoint", place), ("savepoint", "check", place)]
    assert [penstock(*arguments, after).exit_code for arguments in checks] == [1, 1]
    option = "--allow-non-restored-state"
    allowed = [("check", option, *checks[0][1:], after), ("savepoint", "check", option, place, after)]
    assert all("unknown until it runs" in penstock(*arguments).stdout.lower() for arguments in allowed)
    assert [penstock(*arguments).exit_code for arguments in allowed] == [0, 0]
    run = ("run", "--local", "--from-savepoint", place, "-n", "--checkpoint-directory", tmp_path / "next")
    result = penstock(*run, after)
    assert result.exit_code == 0, result.stderr
    dropped = "thing: objects of the class __main__.Thing are in it, which the program does not have: it is dropped"
    assert dropped in error_text(result)
    shown = penstock("savepoint", "show", tmp_path / "next").stdout
    assert "number" in shown
    assert "thing" not in shown.replace("job things", "").replace("'things'", "")
    again = penstock("run", "--local", "--checkpoint-directory", tmp_path / "next", after)
    assert (again.exit_code, "is dropped" in error_text(again)) == (0, False)


def test_a_state_that_is_asked_for_is_not_dropped_with_its_class(penstock, job, tmp_path):
    place, _, written = job
    after = written({**WITH, "COUNT": "6", "THING": "", "Thing(value)": "value"})
    allowed = "--allow-non-restored-state"
    for command in (("check", allowed, "--from-savepoint", place), ("savepoint", "check", allowed, place)):
        checked = penstock(*command, after)  # a class of the program's file, which may be there when it runs
        assert (checked.exit_code, "nknown until it runs" in checked.stdout) == (0, True)
    result = penstock(
        "run", "--local", "--from-savepoint", place, "-n", "--checkpoint-directory", tmp_path / "next", after
    )
    assert result.exit_code == 1
    reason = (
        "The state 'thing' has objects of the class __main__.Thing, which the program does not have, and the program"
    )
    assert reason in error_text(result)

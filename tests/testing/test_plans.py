"""The fixture ``plan``: what is asserted of plans, and their snapshots."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import InvalidProgramError, UnknownNameError
from penstock.testing.plans import PlanChangedError, TestedPlan, plan_of

pytest_plugins = ["pytester"]

PLUGIN = () if entry_points(group="pytest11", name="penstock") else ("-p", "penstock.pytest_plugin")
"""A checkout that is not installed has no entry point."""


def program(env: StreamExecutionEnvironment, uid: str = "counts") -> None:
    words = env.from_collection(["a"]).uid("words").map(str).name("texts")
    words.key_by(lambda word: word).reduce(max).uid(uid).print()


@pytest.fixture(scope="module")
def tested() -> TestedPlan:
    return TestedPlan(plan_of(program))


def test_what_is_chained(tested: TestedPlan) -> None:
    tested.assert_planned()
    tested.assert_chained("words", "texts")
    tested.assert_not_chained("texts", "counts")
    with pytest.raises(AssertionError, match=r"'texts' and 'counts' are not chained: .*HEAD"):
        tested.assert_chained("texts", "counts")
    with pytest.raises(AssertionError, match="'words' and 'texts' are chained"):
        tested.assert_not_chained("words", "texts")
    with pytest.raises(AssertionError, match=r"no edge from 'words' to 'counts'.*\['texts'\]"):
        tested.assert_chained("words", "counts")
    with pytest.raises(UnknownNameError):
        tested.assert_chained("words", "nobody")


def test_whose_state_is_found_again(tested: TestedPlan) -> None:
    tested.assert_uid_stable()  # what keeps no state needs no uid
    with pytest.raises(AssertionError, match=rf"'texts', {__file__}:\d+"):
        tested.assert_uid_stable("texts", "counts")


def test_what_open_cannot_tell_counts_as_state() -> None:
    class Failing:
        def open(self, context: Any) -> None:
            raise OSError

        def map(self, value: Any) -> Any:
            return value

    loose = TestedPlan(plan_of(lambda env: env.from_collection([1]).uid("numbers").map(Failing()).print()))
    with pytest.raises(AssertionError, match="'Map'"):
        loose.assert_uid_stable()


def test_a_refused_program() -> None:
    refused = TestedPlan(plan_of(lambda env: env.from_collection([1]).uid("a").map(str).uid("a").print()))
    with pytest.raises(AssertionError, match="refused"):
        refused.assert_planned()


def test_programs_of_every_kind(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "from penstock.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1]).print()\nenv.execute('of a file')\nraise SystemExit(3)\n"
    )
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    program(env)

    def main() -> None:
        main_env = StreamExecutionEnvironment.get_execution_environment()
        program(main_env)
        main_env.execute("of a main function")

    assert plan_of(file).name == "of a file"
    assert plan_of(main).name == "of a main function"
    assert len(plan_of(env).stream_graph.nodes) == 4
    for wrong in (lambda: None, 3):
        with pytest.raises(InvalidProgramError, match=r"Give a|give a"):
            plan_of(wrong)  # type: ignore[arg-type]


def test_a_snapshot_says_what_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "plans" / "counts.json"
    with pytest.raises(PlanChangedError, match=r"no snapshot of this plan yet.*--penstock-update-plans"):
        TestedPlan(plan_of(program), file).assert_unchanged()
    TestedPlan(plan_of(program), file, update=True).assert_unchanged()
    TestedPlan(plan_of(program), file).assert_unchanged()
    assert "/" not in json.dumps(json.loads(file.read_text())["operators"])
    with pytest.raises(PlanChangedError, match=r'(?s)-   "uid": "counts",\n.*\+   "uid": "sums",'):
        TestedPlan(plan_of(lambda env: program(env, "sums")), file).assert_unchanged()


@pytest.mark.slow
def test_the_fixture_and_its_option(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def program(env):
            env.from_collection([1]).uid("numbers").map(str).uid("texts").print()

        @pytest.mark.parametrize("case", ["a/b", "ä"])
        def test_it(plan, case):
            tested = plan(program)
            tested.assert_chained("numbers", "texts")
            tested.assert_unchanged()
            plan(program).assert_unchanged()
        """
    )
    pytester.runpytest(*PLUGIN, "-q").assert_outcomes(failed=2)
    pytester.runpytest(*PLUGIN, "-q", "--penstock-update-plans").assert_outcomes(passed=2)
    pytester.runpytest(*PLUGIN, "-q").assert_outcomes(passed=2)
    written = sorted(path.name for path in pytester.path.glob("__plans__/test_the_fixture_and_its_option/*"))
    assert len(written) == 4, written

"""Whole programs on a few records, and the fixtures for pytest."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from penstock.common import Types
from penstock.errors import JobExecutionError
from penstock.testing import run_program

pytest_plugins = ["pytester"]


def counted(words):
    return words.map(lambda word: (word, 1)).key_by(lambda pair: pair[0], key_type=Types.STRING()).sum(1)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_program_runs_on_a_few_records(parallelism: int) -> None:
    results = run_program(counted, ["a", "b", "a"], Types.STRING(), parallelism=parallelism)
    assert sorted(results) == [("a", 1), ("a", 2), ("b", 1)]


def test_what_fails_in_it_is_the_cause() -> None:
    with pytest.raises(JobExecutionError) as caught:
        run_program(lambda words: words.map(lambda word: 1 / word), [0])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.slow
def test_pytest_finds_the_fixtures(pytester: pytest.Pytester) -> None:
    assert [entry_point.value for entry_point in entry_points(group="pytest11", name="penstock")] == [
        "penstock.pytest_plugin"
    ]
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("penstock_parallelism", [1, 2])
        def test_it(penstock_env, penstock_parallelism):
            assert penstock_env.get_parallelism() == penstock_parallelism
            with penstock_env.from_collection([1, 2]).map(str).execute_and_collect() as results:
                assert sorted(results) == ["1", "2"]

        def test_default(penstock_env):
            assert penstock_env.get_parallelism() == 1
        """
    )
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=3)


def test_the_fixtures_cost_a_suite_nothing_that_does_not_ask_for_them() -> None:
    script = "import sys, penstock.pytest_plugin; print(sorted(m for m in sys.modules if m.startswith('penstock.')))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "penstock.datastream" not in loaded
    assert "penstock._native" not in loaded

"""A sample of the random programs that are edited between their runs, on Spark, after all commands were asked."""

from __future__ import annotations

import pytest

from tests.datastream import feeding, typed_edits
from tests.datastream.random_edits import check
from tests.effort import one_of

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("seed", range(4)[:: one_of(2)])
def test_what_survives_goes_on_and_the_rest_begins_anew(executor, seed: int) -> None:
    with feeding.folder() as root:
        check(seed, root, executor, guard=True)


@pytest.mark.parametrize("seed", range(5_000, 5_004)[:: one_of(2)])
def test_the_commands_say_what_the_runs_do(executor, seed: int) -> None:
    with feeding.folder() as root:
        typed_edits.check(seed, root, executor)

"""A sample of the random programs that are edited between their runs, on Spark."""

from __future__ import annotations

import pytest

from tests.datastream import feeding
from tests.datastream.random_edits import check

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("seed", range(4))
def test_what_survives_goes_on_and_the_rest_begins_anew(executor, seed: int) -> None:
    with feeding.folder() as root:
        check(seed, root, executor)

"""What a join by windows returns is an operator, with setters."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.datastream.window import CountTumblingWindowAssigner
from penstock.plan import operator_id
from tests.running import environment


@pytest.mark.parametrize("call", ["apply", "with_"])
@pytest.mark.parametrize("kind", ["join", "co_group"])
def test_an_operator_of_a_join_can_have_a_uid(kind, call):
    env = environment()
    left, right = (env.from_collection([1, 2], Types.LONG()) for _ in range(2))
    keyed = getattr(left, kind)(right).where(lambda n: n).equal_to(lambda n: n)
    joined = getattr(keyed.window(CountTumblingWindowAssigner.of(2)), call)(
        lambda a, b: [a], Types.PICKLED_BYTE_ARRAY()
    )
    joined.uid("both").name("both of them").print()
    plan = env.explain(format="json")
    assert operator_id("both") in plan
    assert "both of them" in plan

"""Keys whose declared type has changed: they stay where they are, or are refused."""

from __future__ import annotations

import pytest

from penstock.common import Row
from penstock.errors import InvalidProgramError
from penstock.runtime.checkpoint.state_series import save
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state.evolution import MIGRATION
from tests.runtime.state.evolving import (
    ABOUT,
    PERSON,
    T,
    fresh,
    reopened,
    shown,
    value,
    written,
)


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        (None, T.STRING(), ["a", "b"]),
        (None, T.LONG(), [1, -5]),
        (T.STRING(), None, ["a"]),
        (T.INT(), T.LONG(), [1, 5]),
        (None, T.TUPLE([T.STRING(), T.LONG()]), [("a", 1)]),
    ],
)
def test_a_key_type_under_which_keys_stay_where_they_are(tmp_path, old, new, keys):
    chain = written(tmp_path, value(), dict.fromkeys(keys, 7), key_type=old)
    keyed = reopened(tmp_path, chain, key_type=new)
    assert shown(keyed, value(), keys) == dict.fromkeys(keys, 7)
    then = save(str(tmp_path), keyed, None, ABOUT, chain, 2)
    assert len(then) == 1
    assert not reopened(tmp_path, then, key_type=new).rewrite


@pytest.mark.parametrize(
    ("old", "new", "key", "why"),
    [
        (T.INT(), T.LONG(), -5, "the key -5 would be in another key group"),
        (T.INT(), T.STRING(), 5, "and the key 5 does not fit"),
        (None, T.STRING(), 5, "and the key 5 does not fit"),
        (T.STRING(), T.TUPLE([T.STRING()]), "a", r"declared Types.STRING\(\) and are Types.TUPLE"),
        (T.TUPLE([T.INT()]), T.TUPLE([T.INT(), T.INT()]), (1,), "the keys were declared"),
        (PERSON, T.ROW_NAMED(["age", "name"], [T.INT(), T.STRING()]), Row(name="x", age=1), "the keys were declared"),
        (None, T.ROW_NAMED(["b", "a"], [T.LONG(), T.LONG()]), Row(a=1, b=1), "would be in another"),
    ],
)
def test_a_key_type_under_which_keys_would_move(tmp_path, old, new, key, why):
    chain = written(tmp_path, value(), {key: 7}, key_type=old)
    with pytest.raises(InvalidProgramError, match=why) as failure:
        reopened(tmp_path, chain, key_type=new)
    assert failure.value.flink_class == MIGRATION
    assert "operator 'count'" in str(failure.value)


def test_keys_of_timers_are_looked_at_too(tmp_path):
    keyed = fresh(key_type=T.INT())
    keyed.event_timers.add(5, keyed.enter(-5), -5, None)
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    with pytest.raises(InvalidProgramError, match="the key -5 would be in another"):
        reopened(tmp_path, chain, key_type=T.LONG())


def test_keys_of_pyflink_and_of_java_name_the_setting(tmp_path):
    chain = written(tmp_path / "a", value(), {"k": 1}, key_type=InRow(T.STRING()))
    with pytest.raises(InvalidProgramError, match=r"set penstock.pyflink to true, as .*--pyflink"):
        reopened(tmp_path / "a", chain)
    chain = written(tmp_path / "b", value(), {"k": 1})
    with pytest.raises(InvalidProgramError, match=r"uses PyFlink.s: set penstock.pyflink to false"):
        reopened(tmp_path / "b", chain, key_type=InRow(None))

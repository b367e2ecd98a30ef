"""Functions by kind of type: every kind has its case."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.common.typesystem.kinds import by_kind, types_in

KINDS = {
    "scalars": Types.INSTANT(),
    "times": Types.SQL_DATE(),
    "tuples": Types.TUPLE([Types.INT()]),
    "rows": Types.ROW([Types.INT()]),
    "lists": Types.LIST(Types.INT()),
    "arrays": Types.OBJECT_ARRAY(Types.STRING()),
    "maps": Types.MAP(Types.STRING(), Types.INT()),
    "objects": Types.PICKLED_BYTE_ARRAY(),
}


def cases():
    return {kind: lambda type_info, more, kind=kind: (kind, more) for kind in KINDS}


def test_each_kind_has_its_case():
    name = by_kind(**cases())
    assert {kind: name(type_info, 1) for kind, type_info in KINDS.items()} == {kind: (kind, 1) for kind in KINDS}
    assert name(None, 1) == ("objects", 1)
    assert name(Types.PRIMITIVE_ARRAY(Types.INT()), 1) == ("arrays", 1)
    special = by_kind(**cases(), primitive_arrays=lambda *_: "special")
    assert special(Types.PRIMITIVE_ARRAY(Types.INT())) == "special"


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_kind_is_an_error_when_the_function_is_made(kind):
    incomplete = cases()
    del incomplete[kind]
    with pytest.raises(TypeError, match=kind):
        by_kind(**incomplete)


def test_all_types_inside_a_type():
    inner = Types.MAP(Types.STRING(), Types.LIST(Types.LONG()))
    types = list(types_in(Types.ROW([inner, Types.TUPLE([Types.SQL_DATE()])])))
    assert types[1:] == [
        inner,
        Types.STRING(),
        Types.LIST(Types.LONG()),
        Types.LONG(),
        Types.TUPLE([Types.SQL_DATE()]),
        Types.SQL_DATE(),
    ]

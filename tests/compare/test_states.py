"""States on both sides: kept, unread, unreadable; key groups, and chains that mix them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.analysis.model import OperatorModel, ProgramModel, StateModel
from penstock.compare.difference import (
    BLOCKED,
    LOST,
    MIXED,
    REFUSED,
    UNREAD,
    UNREADABLE,
    Difference,
    compare,
)
from tests.compare.planned import planned
from tests.compare.shop import PLAIN

MODEL = planned(PLAIN)[0]


def changed(model: ProgramModel, name: str, **values: Any) -> ProgramModel:
    """The same with another operator of a name."""
    operators = tuple(
        replace(operator, **values) if operator.name == name else operator for operator in model.operators
    )
    return replace(model, operators=operators)


def _with(*states: StateModel, key: str = "Types.INT()") -> ProgramModel:
    return changed(MODEL, "count", states=states, stateful=bool(states), key_type=key)


def _value(text: str = "", name: str = "total", **more: Any) -> StateModel:
    return StateModel(name, "value", {"value": text} if text else {}, **more)


def _problems(result: Difference) -> list[tuple[str, str]]:
    return [(problem.kind, problem.severity) for problem in result.problems]


_ROW = "Types.ROW_NAMED(['city'], [Types.STRING()])"
_WIDER = "Types.ROW_NAMED(['city', 'zip'], [Types.STRING(), Types.INT()])"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (_with(_value("Types.INT()")), _with(_value("Types.INT()")), []),
        (_with(_value("Types.INT()")), _with(_value("Types.LONG()")), []),
        (_with(_value("Types.LONG()")), _with(_value("Types.INT()")), [(UNREADABLE, BLOCKED)]),
        (_with(_value("Types.INT()")), _with(_value("Types.STRING()")), [(UNREADABLE, BLOCKED)]),
        (_with(_value("Types.INT()")), _with(_value()), []),
        (_with(_value("Some(Flink)")), _with(_value("Types.INT()")), [(UNREADABLE, BLOCKED)]),
        (_with(_value()), _with(_value(ttl="5 s")), []),
        (_with(_value()), _with(StateModel("total", "list")), [(UNREADABLE, BLOCKED)]),
        (_with(_value()), _with(_value(name="sum")), [(UNREAD, LOST)]),
        (_with(_value()), _with(_value(), _value(name="sum")), []),
        (_with(_value()), _with(_value(name="sum", former_names=("amount", "total"))), []),
        (_with(_value("Types.LONG()")), _with(_value("Types.STRING()", version=1)), []),
        (_with(_value()), _with(StateModel("total", "list", version=1)), []),
        (_with(_value(version=2)), _with(_value(version=1)), [(UNREADABLE, BLOCKED)]),
        (_with(_value(_ROW)), _with(_value(_WIDER)), [(UNREADABLE, BLOCKED)]),
        (_with(_value(_ROW)), _with(_value(_WIDER, defaults=("zip",))), []),
        (_with(_value()), _with(), [(UNREAD, LOST)]),
        (_with(_value(), key="Types.INT()"), _with(_value(), key="Types.LONG()"), []),
        (_with(_value()), _with(_value(), key="Types.LIST(Types.INT())"), [(UNREADABLE, BLOCKED)]),
    ],
)
def test_states_by_name_kind_and_type(
    before: ProgramModel, after: ProgramModel, expected: list[tuple[str, str]]
) -> None:
    assert _problems(compare(before, after)) == expected


def test_what_is_not_known_to_be_stateless_may_be_lost() -> None:
    unknown = changed(MODEL, "count", states=None, stateful=None)
    gone = changed(MODEL, "count", operator_id="0" * 32, uid="other")
    texts = [problem.text for problem in compare(unknown, gone).problems]
    assert len(texts) == 1
    assert "may hold state" in texts[0]


def test_a_program_that_is_refused_is_blocked() -> None:
    result = compare(MODEL, replace(MODEL, refused="two operators have the uid 'a'"))
    assert _problems(result) == [(REFUSED, BLOCKED)]
    assert not result.safe


def _chained(model: ProgramModel, *names: str) -> ProgramModel:
    nodes = tuple(operator.node for operator in model.operators if operator.name in names)
    return replace(model, vertices=(replace(model.vertices[0], operators=nodes),))


def _keyed(count: int, first: int, *, configured: bool) -> ProgramModel:
    model = MODEL
    for name, groups in (("count", count), ("first", first)):
        most = groups if configured else None
        model = changed(model, name, effective_max_parallelism=groups, max_parallelism=most)
    return model


def test_chains_that_mix_key_groups_are_blocked() -> None:
    apart = _keyed(128, 64, configured=False)
    together = _chained(_keyed(128, 128, configured=False), "count", "first")
    assert _problems(compare(apart, together, allow=True)) == [(MIXED, BLOCKED)]
    assert "FLINK-40113" in compare(apart, together).problems[0].text
    assert _problems(compare(_keyed(128, 128, configured=False), together)) == []
    set_so = _chained(_keyed(128, 64, configured=True), "count", "first")
    assert (MIXED, BLOCKED) in _problems(compare(set_so, set_so))


def test_a_long_chain_of_operators_with_few_names() -> None:
    """One more at its beginning: all behind it have moved, and all are known again."""
    count, template, edge = 3_000, MODEL.operators[2], MODEL.edges[0]

    def chain(ids: str, *names: str) -> ProgramModel:
        names = ("source", *names, *(f"op {number % 100}" for number in range(count)))
        operators: list[OperatorModel] = []
        for node, name in enumerate(names):
            kind, operator_id = "operator" if node else "source", f"{ids}{node:031x}"
            operators.append(replace(template, node=node, kind=kind, name=name, operator_id=operator_id))
        edges = (replace(edge, source=node, target=node + 1, index=node) for node in range(len(names) - 1))
        return ProgramModel("x", "1.11", tuple(operators), tuple(edges), (), ())

    result = compare(chain("a"), chain("b", "new"))
    assert [operator.name for operator in result.operators if operator.change == "added"] == ["new"]
    assert not [operator.name for operator in result.operators if operator.change == "removed"]
    assert all(operator.old is None or operator.old.name == operator.name for operator in result.operators)

"""What operators keep is known before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.analysis.model import StateModel
from penstock.analysis.states import declared, declared_states
from penstock.common import Time, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from tests.analysis.programs import PAIR, Connecting, Counting, pairs, planned

PAIRS = repr(PAIR)
REDUCED = StateModel("_op_state", "reducing", {"value": PAIRS}, form="table of reductions")


def kinds(of: Any) -> list[tuple[str, str]]:
    return [(state.name, state.kind) for state in of]


def test_states_are_what_open_asks_for_with_types_and_ttl() -> None:
    states = declared_states(planned(lambda env: pairs(env).process(Counting()).print()))
    assert list(states.values())[1:] == [
        (
            StateModel("count", "value", {"value": "Types.LONG()"}, "5000 ms, OnCreateAndWrite, NeverReturnExpired"),
            StateModel("seen", "map", {"key": "Types.STRING()", "value": "Types.LONG()"}),
            StateModel("user-timers", "timers"),
        ),
        (),
    ]


def test_the_programs_own_function_is_not_opened() -> None:
    function = Counting()
    declared_states(planned(lambda env: pairs(env).process(function).print()))
    assert vars(function) == {}


def test_what_cannot_be_opened_is_not_known_and_says_why() -> None:
    by_node = declared(planned(lambda env: pairs(env).process(Connecting()).print()))
    assert [operator.states for operator in by_node.values()][1] is None
    assert [operator.unknown for operator in by_node.values()][1] == (
        "open() of Connecting has failed: ConnectionError: no database"
    )


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda s: s.reduce(lambda a, b: a), [REDUCED]),
        (
            lambda s: s.window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(lambda a, b: a),
            [
                replace(
                    REDUCED,
                    name="window-contents",
                    kind="window contents",
                    types={"element": PAIRS},
                    windows="windows of event time",
                ),
                StateModel("window-timers", "timers"),
            ],
        ),
    ],
)
def test_built_in_operators_keep_what_their_definition_says(program: Any, expected: list[StateModel]) -> None:
    states = declared_states(planned(lambda env: program(pairs(env)).print()))
    assert list(list(states.values())[1] or ()) == expected


def test_sessions_keep_the_set_of_their_windows() -> None:
    def program(env: StreamExecutionEnvironment) -> None:
        pairs(env).window(EventTimeSessionWindows.with_gap(Time.seconds(1))).reduce(lambda a, b: a).print()

    states = list(declared_states(planned(program)).values())
    assert ("merging-window-set", "window set") in kinds(states[1])


def test_joins_and_broadcast_state() -> None:
    from penstock.datastream.functions import KeyedBroadcastProcessFunction
    from penstock.datastream.state import MapStateDescriptor

    class Rules(KeyedBroadcastProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value

        def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
            yield value

    def program(env: StreamExecutionEnvironment) -> None:
        rules = env.from_collection([1]).broadcast(MapStateDescriptor("rules", Types.STRING(), Types.INT()))
        pairs(env).connect(rules).process(Rules()).name("rules").print()

    pipeline = planned(program)
    node = next(node.id for node in pipeline.stream_graph.nodes if node.name == "rules")
    assert declared_states(pipeline)[node] == (
        StateModel("rules", "broadcast", {"key": "Types.STRING()", "value": "Types.INT()"}),
    )


class Changed(Counting):
    """Asks for a state that it has had before in another form."""

    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor("total", PAIR).renamed_from("sum").migrated_by(lambda value: value, 2)
        runtime_context.get_state(descriptor.with_field_defaults({"f1": 0}))


def test_what_the_program_says_of_former_forms() -> None:
    states = declared_states(planned(lambda env: pairs(env).process(Changed()).print()))
    total = (list(states.values())[1] or ())[0]
    assert (total.former_names, total.version, total.defaults) == (("sum",), 2, ("f1",))
    summed = planned(lambda env: pairs(env).sum(1).with_field_defaults({"f1": 0}).print())
    assert [state.defaults for state in list(declared_states(summed).values())[1] or ()] == [("f1",)]

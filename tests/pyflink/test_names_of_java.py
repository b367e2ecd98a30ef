"""What is only PyFlink's: internal forms of values, stand-ins for objects of Java, methods of triggers."""

from __future__ import annotations

import pickle
from datetime import datetime, time, timezone
from typing import Any

import pytest

from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.common.serialization import RowFieldExtractorSchema, SimpleStringSchema
from penstock.datastream import (
    KeyedStream,
    MapStateDescriptor,
    ReduceFunction,
    ReducingStateDescriptor,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.connectors import FileSink
from penstock.datastream.window import ContinuousEventTimeTrigger, TriggerResult, TumblingEventTimeWindows
from penstock.errors import InvalidProgramError, MissingMethodError, TypeInfoError
from penstock.pyflink.common import Encoder, Row, RowKind, Types
from penstock.pyflink.common.typeinfo import RowTypeInfo, TupleTypeInfo
from penstock.pyflink.datastream import DataStream, OutputTag
from tests.pyflink.own_tests.plugin import Gateway

ROW = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    ("type_info", "value", "message"),
    [
        (ROW, 1, "no internal form of 1. Give a Row, a dict, a tuple, a list or an object with attributes"),
        (Types.TUPLE([ROW]), "a", r"Types.TUPLE\(.*\) has no internal form of 'a'. Give a tuple, a list or a Row"),
    ],
)
def test_what_has_no_internal_form_is_refused(type_info: Any, value: object, message: str) -> None:
    with pytest.raises(TypeInfoError, match=message):
        type_info.to_internal_type(value)


def test_a_row_without_a_field_of_the_type_is_refused() -> None:
    with pytest.raises(ValueError, match="y"):
        ROW.to_internal_type(Row(x=1, z=2))


def test_times_are_those_of_the_machines_zone() -> None:
    assert Types.SQL_TIME().to_internal_type(time(0, 0, 1, tzinfo=timezone.utc)) == 1_000_000
    now = datetime(2024, 5, 6, 7, 8, 9, 123456)
    internal = Types.SQL_TIMESTAMP().to_internal_type(now)
    assert Types.SQL_TIMESTAMP().to_internal_type(now.astimezone(timezone.utc)) == internal
    assert Types.SQL_TIMESTAMP().from_internal_type(internal) == now


def test_types_of_records_are_made_of_lists() -> None:
    row_type = RowTypeInfo([Types.INT(), Types.STRING()], ["x", "y"])
    assert row_type == ROW
    assert hash(row_type) == hash(ROW)
    assert pickle.loads(pickle.dumps(row_type)) == ROW
    assert RowTypeInfo([Types.INT()]) == Types.ROW([Types.INT()])
    assert TupleTypeInfo([Types.INT()]) == Types.TUPLE([Types.INT()])
    with pytest.raises(
        TypeInfoError, match=r"Types\.ROW \(RowTypeInfo\) was given the class int as the type of field 0\. Write"
    ):
        RowTypeInfo([int])  # type: ignore[list-item]


def test_stand_ins_are_equal_if_what_they_stand_for_is() -> None:
    java = ROW.get_java_type_info()
    assert java.equals(RowTypeInfo([Types.INT(), Types.STRING()], ["x", "y"]).get_java_type_info())
    assert java.hashCode() == ROW.get_java_type_info().hashCode()
    assert java != Types.INT().get_java_type_info()
    assert (java.getFieldNames(), java.getTypeAt(1).toString(), len(java.getFieldTypes())) == (["x", "y"], "String", 2)
    assert OutputTag("a", ROW).get_java_output_tag() == OutputTag("a").get_java_output_tag()
    assert hash(OutputTag("a").get_java_output_tag()) == hash(OutputTag("a", ROW).get_java_output_tag())
    assert str(OutputTag("a", ROW).get_java_output_tag()) == "OutputTag(Row(x: Integer, y: String), a)"
    assert RowKind.DELETE.to_j_row_kind() == RowKind.DELETE.to_j_row_kind() != RowKind.INSERT.to_j_row_kind()
    assert len({RowKind.DELETE.to_j_row_kind(), RowKind.DELETE.to_j_row_kind()}) == 1
    with pytest.raises(MissingMethodError, match=r"IntegerTypeInfo\.getFieldNames is not there"):
        Types.INT().get_java_type_info().getFieldNames()
    with pytest.raises(MissingMethodError, match=r"createSerializer is not there"):
        java.createSerializer()


def test_parameters_have_pyflinks_names(tmp_path: Any) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    state = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
    stream = env.from_collection([1])
    assert stream.broadcast(broadcast_state_descriptor=state).descriptors == (state,)
    more = MapStateDescriptor("more", Types.INT(), Types.INT())
    assert stream.broadcast(state, more).descriptors == (state, more)
    assert TumblingEventTimeWindows(size=5, offset=1) == TumblingEventTimeWindows.of(5, 1)
    assert Time(milliseconds=5) == Time.milliseconds(5)
    assert FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build().get_transformer() is None


class Smaller(ReduceFunction[int]):
    def reduce(self, value1: int, value2: int) -> int:
        return min(value1, value2)


class EveryTwo(ContinuousEventTimeTrigger):
    """Fires as the trigger it derives from, by a state and a timer of its own."""

    state = ReducingStateDescriptor("next", Smaller(), Types.LONG())

    def on_element(self, element: Any, timestamp: Any, window: Any, ctx: Any) -> TriggerResult:
        fire = ctx.get_partitioned_state(self.state)
        if fire.get() is None:
            self.register_next_fire_timestamp(timestamp - timestamp % self.interval, window, ctx, fire)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        fire = ctx.get_partitioned_state(self.state)
        if fire.get() == time:
            fire.clear()
            if time < window.max_timestamp():
                self.register_next_fire_timestamp(time, window, ctx, fire)
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self.state).clear()


class Listed(WindowFunction[int, list[int], int, Any]):
    def apply(self, key: int, window: Any, inputs: Any) -> Any:
        yield list(inputs)


def test_a_trigger_that_derives_from_a_continuous_one_registers_its_next_time() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    stream = env.from_collection([0, 1, 2, 3, 7, 9]).assign_timestamps_and_watermarks(times).key_by(lambda _: 0)
    windows = stream.window(TumblingEventTimeWindows.of(10)).trigger(EveryTwo(2))
    results = list(windows.apply(Listed()).execute_and_collect())
    assert results[-1] == [0, 1, 2, 3, 7, 9]
    assert len(results) == 5


def test_schemas_have_stand_ins_too() -> None:
    row = Gateway().jvm.org.apache.flink.types.Row(2)
    row.setField(0, b"key")
    java = RowFieldExtractorSchema(0)._j_serialization_schema
    java.open(None)
    assert (java.serialize(row), java.serialize(None), java.getFieldIndex()) == (b"key", b"", 0)
    assert (
        java == RowFieldExtractorSchema(0)._j_serialization_schema != RowFieldExtractorSchema(1)._j_serialization_schema
    )
    assert java.hashCode() == RowFieldExtractorSchema(0)._j_serialization_schema.hashCode()
    text = SimpleStringSchema()._j_deserialization_schema
    assert (text.deserialize(b"a"), text.getProducedType().toString()) == ("a", "String")
    assert (row.getField(1), row.getArity(), row.equals(Row(a=b"key", b=None))) == (None, 2, True)


def test_a_stream_of_an_operator_is_that_operator() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    mapped = env.from_collection([1]).map(lambda value: value + 1)
    again: Any = DataStream(mapped._j_data_stream)
    again.set_parallelism(1).name("again")
    assert mapped.get_name() == "again"
    assert not isinstance(DataStream(mapped.key_by(lambda value: value)), KeyedStream)
    assert list(DataStream(mapped).execute_and_collect()) == [2]


def test_settings_are_what_they_were_set_as() -> None:
    settings = Configuration({"text": "1"})
    settings.set_integer("number", 1).set_boolean("truth", True).set_float("float", 1.5).set_bytearray("bytes", b"a")
    settings.set_integer("again", 1).set_string("again", "x")
    values: dict[str, Any] = {}
    Configuration(settings).add_all_to_dict(values)
    assert values == {"text": "1", "number": 1, "truth": True, "float": 1.5, "bytes": bytearray(b"a"), "again": "x"}
    Configuration().add_all(settings, "a.").add_all_to_dict(values)
    assert (values["a.number"], values["a.again"]) == (1, "x")
    assert settings.to_dict()["truth"] == "true"


def test_configs_of_equal_settings_are_equal() -> None:
    one, two = (StreamExecutionEnvironment.get_execution_environment(executor="local").get_config() for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one.set_parallelism(3) != two
    assert one != 3


def test_alignment_changes_nothing() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    assert strategy.with_watermark_alignment("a", Duration.of_seconds(1), Duration.of_millis(5)) == strategy
    with pytest.raises(InvalidProgramError, match="with_watermark_alignment"):
        strategy.with_watermark_alignment(1, Duration.of_seconds(1))  # type: ignore[arg-type]

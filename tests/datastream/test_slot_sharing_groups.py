"""Slot sharing groups with what their slots need: built as in Flink, planned as their names, without contradictions."""

from __future__ import annotations

import pytest

from penstock.datastream import MemorySize, SlotSharingGroup, StreamExecutionEnvironment
from penstock.errors import InvalidProgramError

BIG = SlotSharingGroup.builder("big").set_cpu_cores(2).set_task_heap_memory_mb(100).build()
BIGGER = SlotSharingGroup.builder("big").set_cpu_cores(4).set_task_heap_memory_mb(100).build()


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


def test_a_memory_size_in_every_unit() -> None:
    size = MemorySize.of_mebi_bytes(3 << 20)
    assert size == MemorySize(3 << 40)
    units = size.get_bytes(), size.get_kibi_bytes(), size.get_mebi_bytes(), size.get_gibi_bytes(), size.get_tebi_bytes()
    assert units == (3 << 40, 3 << 30, 3 << 20, 3 << 10, 3)
    assert MemorySize(bytes_size=2047).get_kibi_bytes() == 1
    assert str(MemorySize(5)) == "5 bytes"


def test_a_group_has_what_its_builder_was_told() -> None:
    builder = SlotSharingGroup.builder("all").set_cpu_cores(1.5).set_task_heap_memory(MemorySize(7))
    builder.set_task_off_heap_memory_mb(2).set_managed_memory(MemorySize(9)).set_external_resource("gpu", 1)
    group = builder.build()
    assert (group.get_name(), group.get_cpu_cores(), group.get_task_heap_memory()) == ("all", 1.5, MemorySize(7))
    assert group.get_task_off_heap_memory() == MemorySize.of_mebi_bytes(2)
    assert (group.get_managed_memory(), group.get_external_resources()) == (MemorySize(9), {"gpu": 1.0})
    same = SlotSharingGroup.builder("x").set_cpu_cores(1).set_task_heap_memory_mb(1).set_managed_memory_mb(0)
    assert same.build() == same.set_task_heap_memory(MemorySize.of_mebi_bytes(1)).build()
    assert same.set_task_off_heap_memory(MemorySize(0)).build().get_task_off_heap_memory() == MemorySize(0)


def test_a_group_may_be_no_more_than_a_name() -> None:
    plain = SlotSharingGroup.builder("plain").build()
    assert (plain.needs, plain.get_cpu_cores(), plain.get_managed_memory()) == (False, None, None)
    assert (plain.get_task_heap_memory(), plain.get_external_resources()) == (None, {})


def plan_with(env: StreamExecutionEnvironment, group: str | SlotSharingGroup) -> object:
    env.from_collection([1]).map(lambda v: v).slot_sharing_group(group).filter(bool).print().slot_sharing_group("out")
    nodes = env.get_stream_graph().to_dict()["nodes"]
    return [(node["name"], node.get("slot_sharing_group")) for node in nodes]


def test_a_plan_is_that_of_the_names(env) -> None:
    other = StreamExecutionEnvironment.get_execution_environment(executor="local")
    other.register_slot_sharing_group(BIG)
    plan = plan_with(env, "big")
    assert plan_with(other, BIG) == plan
    assert {"big", "out"} <= set(dict(plan).values())


@pytest.mark.parametrize("registered", [False, True])
def test_a_group_cannot_need_two_things(registered: bool, env) -> None:
    stream = env.from_collection([1]).map(lambda v: v).slot_sharing_group(BIG)
    if registered:
        assert env.register_slot_sharing_group(BIGGER) is env
    else:
        stream = stream.map(lambda v: v).slot_sharing_group(BIGGER)
    stream.print()
    with pytest.raises(InvalidProgramError, match="'big' has two specifications") as caught:
        env.get_execution_plan()
    assert caught.value.flink_class == "java.lang.IllegalArgumentException"


def test_the_last_word_counts(env) -> None:
    env.register_slot_sharing_group(BIG)
    stream = env.from_collection([1]).map(lambda v: v)
    stream.slot_sharing_group(BIGGER).slot_sharing_group("big").print()
    assert env.register_slot_sharing_group(BIGGER).slot_sharing_groups == {"big": BIGGER}
    env.get_execution_plan()


def test_a_name_alone_contradicts_nothing(env) -> None:
    plain = SlotSharingGroup.builder("big").build()
    env.from_collection([1]).map(lambda v: v).slot_sharing_group(BIG).map(lambda v: v).slot_sharing_group(plain).print()
    env.register_slot_sharing_group(plain).get_execution_plan()

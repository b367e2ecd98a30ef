"""A program that was changed opens with its old state before it reads anything, or is refused there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from penstock.common import RestartStrategies, Time, Types
from penstock.datastream import (
    BroadcastProcessFunction,
    KeyedProcessFunction,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.errors import InvalidProgramError, StateError
from penstock.job.folder.lease import JobFolder
from tests.job.steps.evolving import Stateful, environment, fed, get, kept, put, run
from tests.running import collected

FIRST = [("a", 1), ("b", 2), ("c", 3)]
MORE = [*FIRST, *((key, 0) for key in "abcd")]
INT, DOUBLE = Types.INT(), Types.DOUBLE()


def value(declared, name="x"):
    return ValueStateDescriptor(name, declared)


@pytest.fixture
def folder(tmp_path):
    """A checkpoint directory of a program that has kept an int per key."""
    run(tmp_path / "job", FIRST, value(INT), put)
    (tmp_path / "seen").unlink()
    return tmp_path / "job"


@pytest.mark.parametrize("parallelism", [2, 1, 3])
@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_what_can_be_converted_is(folder, parallelism, backend, capfd):
    settings = {"parallelism": parallelism, "penstock__state__backend": backend}
    records = run(folder, MORE, value(DOUBLE), get, **settings)
    assert repr(records) == "[('a', 1.0), ('b', 2.0), ('c', 3.0), ('d', None)]"
    line = "  KeyedProcess (uid kept): x: a ValueState (Types.INT()) is a ValueState (Types.DOUBLE()), 3 values"
    assert f"State that has changed:\n{line}\n" in capfd.readouterr().err
    assert repr(run(folder, [*MORE, ("a", 0)], value(DOUBLE), get)) == "[('a', 1.0)]"
    assert "State that has changed" not in capfd.readouterr().err


def test_what_cannot_is_refused_before_anything_happens(folder, tmp_path):
    before = kept(folder)
    with pytest.raises(InvalidProgramError) as failure:
        run(folder, MORE, value(Types.STRING()), get)
    assert failure.value.flink_class == "org.apache.flink.util.StateMigrationException"
    assert "in operator 'KeyedProcess' (OperatorID " in str(failure.value)
    was, wanted = "was written as a ValueState (Types.INT())", "is asked for as a ValueState (Types.STRING())"
    assert f"uid 'kept'): The state 'x' {was}, and {wanted}: " in str(failure.value)
    assert not (tmp_path / "seen").exists()
    assert kept(folder) == before
    assert run(folder, MORE, value(INT), get) == [("a", 1), ("b", 2), ("c", 3), ("d", None)]


def test_a_refusal_is_not_tried_again(folder):
    env = environment(folder)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(100, 10_000))
    keyed = fed(env, folder, MORE).key_by(lambda record: record[0], Types.STRING())
    with pytest.raises(InvalidProgramError, match="is asked for as"):
        collected(keyed.process(Stateful(value(Types.STRING()), get)).uid("kept"))


def test_nor_is_one_of_a_state_that_is_asked_for_later(folder, caplog):
    env = environment(folder)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(100, 10_000))
    keyed = fed(env, folder, MORE).key_by(lambda record: record[0], Types.STRING())
    before = JobFolder(str(folder)).newest().version

    class Later(KeyedProcessFunction):
        def open(self, context):
            self.context = context

        def process_element(self, record, ctx):
            self.context.get_state(value(Types.STRING()))
            yield record

    with pytest.raises(
        InvalidProgramError, match=f"cannot resume from checkpoint {before + 1}, in operator 'K.*asked for"
    ):
        collected(keyed.process(Later()).uid("kept"))
    assert "is run again" not in caplog.text


def test_a_function_that_fails_to_open_is_tried_again(folder, tmp_path):
    tries = tmp_path / "tries"

    env = environment(folder)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(2, 0))
    keyed = fed(env, folder, MORE).key_by(lambda record: record[0], Types.STRING())

    class Opening(Stateful):
        def open(self, context):
            with tries.open("a") as file:
                file.write("x")
            if len(tries.read_text()) < 2:
                raise OSError("not yet")
            super().open(context)

    assert len(collected(keyed.process(Opening(value(INT), get), Types.PICKLED_BYTE_ARRAY()).uid("kept"))) == 4


def test_keys_of_another_type_are_refused(folder):
    env = environment(folder)
    keyed = fed(env, folder, MORE).key_by(lambda record: record[1], INT)
    with pytest.raises(InvalidProgramError, match=r"the keys were declared Types.STRING\(\) and are Types.INT\(\) now"):
        collected(keyed.process(Stateful(value(INT), get)).uid("kept"))


def test_a_migration_runs_once_for_each_value(folder, tmp_path):
    calls = tmp_path / "calls"

    def logged(old):
        with calls.open("a") as file:
            file.write(f"{old} ")
        return f"<{old}>"

    new = value(Types.STRING(), "y").renamed_from("x").migrated_by(logged)
    assert run(folder, MORE, new, get) == [("a", "<1>"), ("b", "<2>"), ("c", "<3>"), ("d", None)]
    assert run(folder, [*MORE, ("b", 0)], new, get) == [("b", "<2>")]
    assert sorted(calls.read_text().split()) == ["1", "2", "3"]


def test_a_migration_that_fails_leaves_everything_as_it_was(folder, tmp_path):
    before = kept(folder)
    with pytest.raises(StateError, match=r"version 1 has failed for the key '[abc]': ZeroDivisionError") as failure:
        run(folder, MORE, value(INT).migrated_by(lambda old: old // 0), get)
    assert "uid 'kept'" in str(failure.value)
    assert isinstance(failure.value.__cause__.__cause__, ZeroDivisionError)
    assert not (tmp_path / "seen").exists()
    assert kept(folder) == before


def test_a_time_to_live(folder):
    descriptor = value(INT)
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    assert run(folder, MORE, descriptor, get) == [("a", 1), ("b", 2), ("c", 3), ("d", None)]
    assert run(folder, [*MORE, ("a", 0)], value(INT), get) == [("a", 1)]


def test_a_state_that_is_asked_for_later_is_converted_then(folder):
    """Not in open(): in one subtask after the other, as records come."""

    class Lazy(KeyedProcessFunction):
        def __init__(self, descriptor):
            self.descriptor = descriptor

        def open(self, context):
            self.context = context

        def process_element(self, record, ctx):
            yield record[0], self.context.get_state(self.descriptor).value()

    def lazily(records, declared):
        keyed = fed(environment(folder), folder, records).key_by(lambda record: record[0], Types.STRING())
        return sorted(collected(keyed.process(Lazy(value(declared)), Types.PICKLED_BYTE_ARRAY()).uid("kept")))

    assert lazily([*FIRST, ("a", 0)], DOUBLE) == [("a", 1.0)]
    assert repr(lazily(MORE, DOUBLE)) == "[('b', 2.0), ('c', 3.0), ('d', None)]"
    with pytest.raises(InvalidProgramError, match="is asked for as a ValueState"):
        lazily([*MORE, ("a", 0)], Types.STRING())


class Rules(BroadcastProcessFunction):
    def __init__(self, descriptor):
        self.descriptor = descriptor

    def process_element(self, value, ctx):
        yield sorted(ctx.get_broadcast_state(self.descriptor).items())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.descriptor).put(*value)


def ruled(folder, rules, events, descriptor):
    env = environment(folder, 1)
    broadcast = fed(env, folder, rules).broadcast(descriptor)
    stream = fed(env, folder, events).connect(broadcast)
    return collected(stream.process(Rules(descriptor), Types.PICKLED_BYTE_ARRAY()).uid("kept"))


def test_a_broadcast_state(tmp_path):
    folder = tmp_path / "job"
    ruled(folder, [("r", 1)], [], MapStateDescriptor("rules", Types.STRING(), INT))
    new = MapStateDescriptor("laws", Types.STRING(), DOUBLE).renamed_from("rules")
    assert repr(ruled(folder, [("r", 1)], [("e", 1)], new)) == "[[('r', 1.0)]]"
    later = MapStateDescriptor("laws", Types.STRING(), Types.STRING())
    with pytest.raises(InvalidProgramError, match="'laws' was written as a MapState"):
        ruled(folder, [("r", 1)], [("e", 1), ("e", 2)], later)
    later.migrated_by(str)
    assert ruled(folder, [("r", 1)], [("e", 1), ("e", 2)], later) == [[("r", "1.0")]]
    assert ruled(folder, [("r", 1)], [("e", 1), ("e", 2), ("e", 3)], later) == [[("r", "1.0")]]


@dataclass
class Basket:
    """What a state has; tests give it another field."""

    things: int


def test_a_class_that_has_changed(tmp_path, monkeypatch, capfd):
    folder = tmp_path / "job"

    def keep(state, number):
        state.update(Basket(number))

    run(folder, FIRST, value(None), keep)

    @dataclass
    class Newer:
        """The same, later."""

        things: int
        colour: str = "red"

    Newer.__qualname__ = Newer.__name__ = "Basket"
    monkeypatch.setitem(globals(), "Basket", Newer)
    records = run(folder, [*FIRST, ("a", 0)], value(None), get)
    assert records == [("a", Newer(1, "red"))]
    line = "  KeyedProcess (uid kept): objects of the class tests.job.steps.test_opening.Basket are what it is now\n"
    assert line in capfd.readouterr().err
    (tmp_path / "seen").unlink()
    monkeypatch.delitem(globals(), "Basket")
    before = kept(folder)
    with pytest.raises(InvalidProgramError, match=r"put @formerly\('tests.job.steps.test_opening.Basket'\) above it"):
        run(folder, MORE, value(None), get)
    assert kept(folder) == before
    assert not (tmp_path / "seen").exists()


def test_a_job_that_is_restored_from_another_one(folder, tmp_path, capfd):
    """Into a folder of its own: the old one stays as it is, and the new one can go on with another program."""
    before, new = kept(folder), tmp_path / "new"
    settings = {"execution__savepoint__path": str(folder)}
    with pytest.raises(InvalidProgramError, match="is asked for as a ValueState"):
        run(new, MORE, value(Types.STRING()), get, **settings)
    assert kept(folder) == before
    assert not (tmp_path / "seen").exists()
    records = run(new, MORE, value(DOUBLE), get, parallelism=3, **settings)
    assert repr(records) == "[('a', 1.0), ('b', 2.0), ('c', 3.0), ('d', None)]"
    assert "x: a ValueState (Types.INT()) is a ValueState (Types.DOUBLE()), 3 values" in capfd.readouterr().err
    assert kept(folder) == before
    assert run(folder, MORE, value(INT), get) == [("a", 1), ("b", 2), ("c", 3), ("d", None)]

"""What goes wrong in user code, and what is merely deep."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.operators.async_wait import AsyncWait
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.source import StreamSource
from tests.job.programs import Program
from tests.job.test_programs import run


def test_a_failure_names_everything():
    program = Program()
    source = program.source(range(10), name="Source: numbers")
    failing = program.add(
        StreamMap(lambda x: 1 // (x - 7)), source, p=3, partitioner="GLOBAL", name="divide", uid="my-uid"
    )
    program.collect(program.add(StreamFilter(bool), failing, p=3, name="keep"))
    with pytest.raises(JobExecutionError, match="divide") as caught:
        run(program)
    error = caught.value
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert (error.operator, error.uid, error.subtask, error.attempt) == ("divide", "my-uid", 0, 0)
    assert error.task == "divide -> keep (1/3)"
    assert len(error.operator_id or "") == 32
    text = str(error)
    assert all(
        part in text
        for part in (error.operator_id, "my-uid", "divide -> keep (1/3)", "ZeroDivisionError", "1 // (x - 7)")
    )
    assert "runtime/operators" not in text


def test_a_module_that_is_missing_where_tasks_run_can_be_shipped():
    def imports(x):
        import no_such_module  # type: ignore[import-not-found]

        return no_such_module.value

    program = Program()
    program.collect(program.add(StreamMap(imports), program.source([1])))
    with pytest.raises(JobExecutionError, match=r"'no_such_module'\. Python does not find it.*add_python_file\(\)"):
        run(program)


def test_the_innermost_operator_is_named():
    def fail(x):
        raise ValueError("boom")

    program = Program()
    source = program.source(["a b"])
    split = program.add(StreamFlatMap(str.split), source, name="split")
    program.collect(program.add(StreamMap(fail), split, name="inner"))
    with pytest.raises(JobExecutionError) as caught:
        run(program)
    assert caught.value.operator == "inner"


@pytest.mark.parametrize(("key", "text"), [(lambda x: None, "must not be null"), (lambda x: {x}, "sorted tuple")])
def test_impossible_keys_fail_in_the_emitting_operator(key, text):
    spec = KeyPartition(key)
    program = Program()
    source = program.source([1], name="Source: one")
    rolling = program.add(GroupedReduce(max).keyed_by(spec), source, p=2, partitioner="HASH", spec=spec)
    program.collect(rolling)
    with pytest.raises(JobExecutionError, match=text) as caught:
        run(program)
    assert caught.value.operator == "Source: one"


@pytest.mark.parametrize("channel", [-1, 4, 99, None, "0"])
def test_a_custom_partitioner_out_of_range(channel):
    program = Program()
    source = program.source([1], name="Source: one")
    spec = CustomPartition(lambda key, n: channel, lambda value: value)
    program.collect(program.add(StreamMap(str), source, p=4, partitioner="CUSTOM", spec=spec))
    with pytest.raises(JobExecutionError, match="channel from 0 to 3") as caught:
        run(program)
    assert caught.value.operator == "Source: one"
    assert repr(channel) in str(caught.value)


def test_code_that_cannot_travel_is_refused_by_name():
    import threading

    lock = threading.Lock()
    program = Program()
    program.collect(program.add(StreamMap(lambda x: lock), program.source([1]), name="locked"))
    with pytest.raises(InvalidProgramError, match=r"'locked'.*captures lock \(lock\).*open\(\)"):
        run(program)


LOCK = threading.Lock()


class Session:
    """Stands in for what Spark does not let out of the driver."""

    __module__ = "pyspark.sql.session"

    def __reduce__(self):
        raise RuntimeError("not here")


class Holder:
    def __init__(self, part):
        self.parts = {"first": [0, part]}

    def map(self, value):
        return value


def closing_over(part):
    return lambda value: [part for _ in range(value)]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (Holder(threading.Lock()), r"captures self\.parts\['first'\]\[1\] \(lock\), which cannot"),
        (Holder(threading.Lock()).map, r"captures self\.parts\['first'\]\[1\] \(lock\), which cannot"),
        (closing_over(threading.Lock()), r"captures part \(lock\), which cannot"),
        (closing_over({"spark": Session()}), r"captures part\['spark'\] \(Session\).*exist on the driver only"),
        (lambda value, *, lock=LOCK: value, r"captures lock \(lock\), which cannot"),
        (lambda value, lock=LOCK: value, r"captures lock \(lock\), which cannot"),
        (closing_over(closing_over(LOCK)), r"captures part \(lock\), which cannot"),
        (lambda value: LOCK, r"captures LOCK \(lock\), which cannot"),
    ],
    ids=["attribute", "bound method", "closure", "session", "keyword default", "default", "inner function", "global"],
)
def test_what_cannot_travel_is_named(function, text):
    program = Program()
    program.collect(program.add(StreamMap(function), program.source([1])))
    with pytest.raises(InvalidProgramError, match=text):
        run(program)


def awaited(f):
    async def async_invoke(value):
        return f(value)

    return AsyncWait(async_invoke, True, 0)


@pytest.mark.parametrize("result", [3, None, object()], ids=["int", "None", "object"])
@pytest.mark.parametrize("kind", [StreamFlatMap, lambda f: ProcessOperator(lambda value, ctx: f(value)), awaited])
def test_results_that_are_no_iterable(kind, result):
    program = Program()
    program.collect(program.add(kind(lambda value: result), program.source([1]), name="one"))
    if result is None and kind is awaited:
        with pytest.raises(JobExecutionError, match="result of AsyncFunction cannot be none"):
            run(program)
        return
    if result is None and kind is not StreamFlatMap:
        assert run(program)[0]["out"] == []
        return
    with pytest.raises(JobExecutionError, match=r"function .*test_failures\.py:\d+\) returned .*yield") as caught:
        run(program)
    assert caught.value.operator == "one"
    assert isinstance(caught.value.__cause__, InvalidProgramError)


def test_calls_that_fail_behind_the_first_do_not_report_themselves(caplog):
    async def fails(value):
        raise OSError(value)

    program = Program()
    program.collect(program.add(AsyncWait(fails, True, 0), program.source(range(50))))
    with pytest.raises(JobExecutionError) as caught:
        run(program)
    assert str(caught.value.__cause__.__cause__) == "0"
    del caught
    gc.collect()
    assert caplog.records == []


def test_a_type_error_of_the_function_itself_stays():
    def wrong(value):
        yield from 3  # type: ignore[misc]

    for operator in (StreamFlatMap(wrong), ProcessOperator(lambda value, ctx: wrong(value))):
        program = Program()
        program.collect(program.add(operator, program.source([1])))
        with pytest.raises(JobExecutionError) as caught:
            run(program)
        assert isinstance(caught.value.__cause__, TypeError)


def test_classes_of_the_program_cross_an_exchange():
    class Event:
        def __init__(self, n):
            self.n = n

    program = Program()
    source = program.source(range(100))
    events = program.add(StreamMap(Event), source)
    spread = program.add(StreamMap(lambda e: e), events, p=3, partitioner="REBALANCE")
    program.collect(program.add(StreamMap(lambda e: e.n), spread, p=2, partitioner="REBALANCE"))
    assert sorted(run(program)[0]["out"]) == list(range(100))


@pytest.mark.slow
def test_a_chain_of_five_thousand_operators():
    program = Program()
    node = program.source(range(3))
    for _ in range(5000):
        node = program.add(StreamMap(lambda x: x + 1), node)
    program.collect(node)
    assert run(program)[0]["out"] == [5000, 5001, 5002]


def test_a_failure_at_the_end_of_a_deep_chain():
    program = Program()
    node = program.source(range(3))
    for _ in range(2000):
        node = program.add(StreamFlatMap(lambda x: [x]), node)
    program.collect(program.add(StreamMap(lambda x: x / 0), node, name="last"))
    with pytest.raises(JobExecutionError) as caught:
        run(program)
    assert caught.value.operator == "last"
    assert len(str(caught.value)) < 200_000


@pytest.mark.slow
@pytest.mark.parametrize("version", [(3, 10), (3, 11)])
def test_a_deep_chain_whatever_calls_cost(version, monkeypatch):
    """Before Python 3.11 every call takes C stack, so the chain runs in a thread with a large one."""
    monkeypatch.setattr("penstock.runtime.usercode.interpreter.sys.version_info", version)
    program = Program()
    node = program.source(range(5000))
    for _ in range(1000):
        node = program.add(StreamMap(lambda x: x + 1), node)
    far = program.add(StreamMap(lambda x: x), node, p=2)
    program.collect(far)
    assert sorted(run(program)[0]["out"]) == list(range(1000, 6000))


def test_a_source_whose_consumer_fails_is_cancelled(tmp_path):
    class Endless:
        going = True

        def run(self, ctx):
            while self.going:
                ctx.collect(1)
            (tmp_path / "ended").touch()

        def cancel(self):
            self.going = False
            (tmp_path / "cancelled").touch()

    program = Program()
    source = program.add(StreamSource(Endless()))
    program.collect(program.add(StreamMap(lambda x: 1 // 0), source, name="bad"))
    with pytest.raises(JobExecutionError) as caught:
        run(program)
    assert caught.value.operator == "bad"
    assert (tmp_path / "cancelled").exists()


class Unfit:
    def __reduce__(self):
        raise RuntimeError("not to be pickled")


@pytest.mark.parametrize("record", [Unfit, threading.Lock], ids=["its own error", "no pickling at all"])
@pytest.mark.parametrize("chaining", [True, False])
def test_a_record_that_cannot_be_copied_fails_the_operator_that_emits_it(record, chaining):
    program = Program(chaining=chaining)
    bad = program.add(StreamMap(lambda x: record()), program.source([1]), name="bad")
    for _ in range(2):
        program.collect(program.add(StreamMap(repr), bad), id=str(_))
    with pytest.raises(JobExecutionError, match="pickle") as caught:
        run(program)
    assert caught.value.operator == "bad"


def test_a_function_that_calls_exit_fails_the_job():
    program = Program()
    program.collect(program.add(StreamMap(lambda x: sys.exit(0)), program.source([1]), name="out"))
    with pytest.raises(JobExecutionError, match=r"called sys\.exit\(0\)") as caught:
        run(program)
    assert "Source: StreamSource 1 -> out" in (caught.value.task or "")


class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("error", "text"), [(Mute(), "text cannot be shown"), (ValueError("x" * 1_000_000), r"\[… \d+ characters …\]")]
)
def test_odd_texts_of_exceptions(error, text):
    def fail(x):
        raise error

    program = Program()
    program.collect(program.add(StreamMap(fail), program.source([1]), name="odd"))
    with pytest.raises(JobExecutionError, match=text) as caught:
        run(program)
    assert (caught.value.operator, len(str(caught.value)) < 50_000) == ("odd", True)

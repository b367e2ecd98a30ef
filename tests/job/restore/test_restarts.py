"""A checkpoint directory is gone on with by a changed program: what is kept, refused, and said."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import MapFunction, ParallelSourceFunction, SourceFunction
from penstock.datastream.connectors import NumberSequenceSource
from penstock.errors import InvalidProgramError
from penstock.job.folder.lease import JobFolder
from penstock.savepoints import SavepointWriter
from tests.job.restore.jobs import PAIR, Count, ending_after, environment, some
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()
STEP = {"penstock__step__records": 10}
KEYS = [f"k{number % 7}" for number in range(100)]
WHOLE = Counter((key, KEYS[: at + 1].count(key)) for at, key in enumerate(KEYS))


def counts(env, change=lambda counted: counted, before=lambda stream: stream):
    stream = env.from_collection([(key, 1) for key in KEYS], PAIR).uid("pairs")
    counted = before(stream).key_by(lambda record: record[0], Types.STRING()).process(Count(), PAIR)
    return change(counted.name("count"))


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [(2, 2), (1, 4), (4, 1), (3, 8), (8, 3), (2, 128)])
def test_another_parallelism_and_an_operator_more(tmp_path, old, new, capsys):
    first = some(counts(environment(tmp_path, old, **STEP), lambda s: s.uid("count")), 3)
    assert len(first) == 30
    env = environment(tmp_path, new, **STEP)
    rest = collected(counts(env, lambda s: s.uid("count"), lambda s: s.map(lambda record: record, PAIR)))
    assert Counter(first) + Counter(rest) == WHOLE
    messages = capsys.readouterr().err
    assert "restored by uid             'Source: Collection Source', 'count'" in messages
    assert "new, starts empty" not in messages  # a map without state
    assert collected(counts(environment(tmp_path, old, **STEP), lambda s: s.uid("count"))) == []


def test_who_is_new_and_may_keep_state_is_said(tmp_path, capsys):
    some(counts(environment(tmp_path, 2, **STEP), lambda s: s.uid("count")), 3)

    class Opening(MapFunction):
        def open(self, context):
            pass

        def map(self, record):
            return record

    def more(stream):
        keyed = stream.map(lambda record: record, PAIR).name("plain").key_by(lambda record: record[0], Types.STRING())
        keyed.filter(lambda record: True).name("keyed")
        keyed.add_sink(lambda record: None).name("sink")
        keyed.map(Opening(), PAIR).name("opens")
        return keyed.process(Count(), PAIR).name("second")

    capsys.readouterr()
    collected(counts(environment(tmp_path, 2, **STEP), lambda s: more(s.uid("count"))))
    assert "  new, starts empty           'opens', 'second'\n" in capsys.readouterr().err


def test_state_that_nobody_takes_is_refused_or_left_behind(tmp_path, capsys):
    first = some(counts(environment(tmp_path, **STEP), lambda s: s.uid("count")), 3)
    with pytest.raises(InvalidProgramError, match=r"state for operator 'count' \(uid 'count'") as refused:
        collected(counts(environment(tmp_path, **STEP), lambda s: s.uid("other")))
    assert refused.value.flink_class == "java.lang.IllegalStateException"
    newest = JobFolder(str(tmp_path)).newest()
    env = environment(tmp_path, execution__savepoint__ignore_unclaimed_state="true", **STEP)
    rest = collected(counts(env, lambda s: s.uid("other")))
    assert len(first) + len(rest) == 100
    assert Counter(rest) == Counter((key, KEYS[30 : at + 31].count(key)) for at, key in enumerate(KEYS[30:]))
    assert "dropped, as allowed         'count' (uid 'count'" in capsys.readouterr().err
    assert {operator.uid for operator in newest.operators.values()} == {"count"}
    assert {operator.uid for operator in JobFolder(str(tmp_path)).newest().operators.values()} == {"other"}


def test_a_uid_hash_takes_what_another_operator_had_and_keeps_it_under_its_own(tmp_path, capsys):
    first = some(counts(environment(tmp_path, **STEP), lambda s: s.uid("old")), 3)
    (old,) = JobFolder(str(tmp_path)).newest().operators
    pinned = lambda s: s.uid("new").set_uid_hash(old)  # noqa: E731 - twice the same
    second = some(counts(environment(tmp_path, **STEP), pinned), 3)
    assert "restored by uid hash        'count'" in capsys.readouterr().err
    (new,) = JobFolder(str(tmp_path)).newest().operators
    assert new != old
    third = some(counts(environment(tmp_path, 3, **STEP), pinned), 1)
    rest = collected(counts(environment(tmp_path, **STEP), lambda s: s.uid("new")))
    assert Counter(first) + Counter(second) + Counter(third) + Counter(rest) == WHOLE


def test_who_inherits_by_its_place_alone_is_said(tmp_path, capsys):
    first = some(counts(environment(tmp_path, **STEP)), 3)
    rest = collected(counts(environment(tmp_path, **STEP), lambda s: s.name("sum")))
    assert Counter(first) + Counter(rest) == WHOLE
    assert "inherited by position       'sum' that of 'count'" in capsys.readouterr().err


def test_a_source_that_goes_on_with_anothers_positions_is_said(tmp_path, capsys):
    def numbers(env, name):
        return env.generate_sequence(0, 99).name(name)

    first = some(numbers(environment(tmp_path, **STEP), "orders"), 2)
    assert "inherited" not in capsys.readouterr().err
    rest = collected(numbers(environment(tmp_path, **STEP), "returns"))
    assert sorted(first + rest) == list(range(100))
    assert "inherited by position       'Source: returns' that of 'Source: orders'" in capsys.readouterr().err


def test_state_that_is_not_read_is_carried_along(tmp_path, capsys):
    first = some(counts(environment(tmp_path, **STEP), lambda s: s.uid("count")), 3)

    def passing(env):
        stream = env.from_collection([(key, 1) for key in KEYS], PAIR).uid("pairs")
        return stream.map(lambda record: (record[0], 0), PAIR).uid("count")

    assert len(some(passing(environment(tmp_path, 3, **STEP)), 2)) == 20
    assert "carried along unread        'Map'" in capsys.readouterr().err
    rest = collected(counts(environment(tmp_path, 4, **STEP), lambda s: s.uid("count")))
    expected = Counter((key, KEYS[:30].count(key) + KEYS[50 : at + 51].count(key)) for at, key in enumerate(KEYS[50:]))
    assert Counter(rest) == expected
    assert len(first) == 30


def test_max_parallelism_is_taken_over_or_refused(tmp_path):
    def program(env, most=None):
        return counts(env, lambda s: (s if most is None else s.set_max_parallelism(most)).uid("count"))

    first = some(program(environment(tmp_path, 2, **STEP), 16), 3)
    way_out = r".*penstock savepoint set-max-parallelism JOB NEW UID"
    with pytest.raises(InvalidProgramError, match=rf"has 16 key groups, and the program gives it 32.{way_out} 32;"):
        collected(program(environment(tmp_path, 2, **STEP), 32))
    with pytest.raises(InvalidProgramError, match=rf"cannot resume with 17 subtasks.{way_out} N\."):
        collected(program(environment(tmp_path, 17, **STEP)))
    regrouped = SavepointWriter(str(tmp_path)).set_max_parallelism("count", 32).write(str(tmp_path / "regrouped"))
    env = environment(tmp_path / "other", 2, **STEP, execution__savepoint__path=regrouped.place)
    assert Counter(first) + Counter(collected(program(env, 32))) == WHOLE
    second = some(program(environment(tmp_path, 16, **STEP)), 2)
    assert {operator.max_parallelism for operator in JobFolder(str(tmp_path)).newest().operators.values()} == {16}
    rest = collected(program(environment(tmp_path, 3, **STEP)))
    assert Counter(first) + Counter(second) + Counter(rest) == WHOLE


def test_chains_that_would_mix_key_groups_are_refused(tmp_path):
    def program(env, apart):
        counted = counts(env, lambda s: s.uid("count"))
        second = counted.key_by(lambda r: r[0], Types.STRING()).process(Count(), PAIR).uid("second")
        return second.set_max_parallelism(20) if apart else second

    def chained(env):
        from penstock.datastream import DataStreamUtils

        counted = counts(env, lambda s: s.uid("count"))
        keyed = DataStreamUtils.reinterpret_as_keyed_stream(counted, lambda r: r[0], Types.STRING())
        return keyed.process(Count(), PAIR).uid("second")

    some(program(environment(tmp_path, 2, **STEP), True), 3)
    try:
        stream = chained(environment(tmp_path, 2, **STEP))
    except ImportError:
        pytest.skip("nothing chains keyed operators")
    with pytest.raises(InvalidProgramError, match="different numbers of key groups"):
        collected(stream)


class Numbers(SourceFunction):
    def run(self, ctx):
        for number in range(100):
            ctx.collect(number)

    def cancel(self):
        pass


SOURCES = {
    "collection": lambda env: env.from_collection(list(range(100)), Types.LONG()),
    "sequence": lambda env: env.generate_sequence(0, 99),
    "splits": lambda env: env.from_source(NumberSequenceSource(0, 99), NONE, "numbers"),
    "function": lambda env: env.add_source(Numbers(), "numbers", Types.LONG()),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("lives", [(2, 3, 1, 4), (1, 5, 2, 2), (4, 1, 1, 3)])
def test_sources_are_read_once_at_any_parallelism(tmp_path, source, lives):
    records = []
    for number, parallelism in enumerate(lives):
        env = environment(tmp_path, parallelism, penstock__step__records=3)
        stream = SOURCES[source](env).uid("source").map(lambda n: n, Types.LONG()).name(f"map {number}")
        stream = stream if number % 2 else stream.filter(lambda n: True)
        records += some(stream, 2) if number < len(lives) - 1 else collected(stream)
    assert sorted(records) == list(range(100))


def test_a_job_that_has_ended_ends_again_with_what_is_new_behind_it(tmp_path):
    program = lambda env: counts(env, lambda s: s.uid("count"))  # noqa: E731 - twice the same
    assert Counter(collected(program(environment(tmp_path, **STEP)))) == WHOLE
    changed = counts(environment(tmp_path, 3, **STEP), lambda s: s.uid("count").map(lambda r: r, PAIR))
    assert collected(changed) == []
    assert collected(program(environment(tmp_path, **STEP))) == []


def test_totals_are_those_of_all_runs(tmp_path):
    for parallelism in (4, 2, 3):
        stream = counts(environment(tmp_path, parallelism, **STEP), lambda s: s.uid("count"))
        stream.add_sink(lambda value: None).uid("sink")
        with ending_after(2 if parallelism != 3 else 100):
            metrics = stream.get_execution_environment().execute().metrics
    assert {operator.name: operator.records_in for operator in metrics.values()}["count"] == 100


@pytest.mark.parametrize("lives", [(2, 2, 2), (1, 3, 2), (3, 1, 4)])
def test_rows_in_loops_go_round(tmp_path, lives):
    records = []
    for number, parallelism in enumerate(lives):
        env = environment(tmp_path, parallelism, penstock__step__records=5)
        loop = env.from_collection([7] * 40, Types.LONG()).uid("in").map(lambda n: n, Types.LONG()).iterate()
        less = loop.map(lambda n: n - 1, Types.LONG()).uid("less").name(f"less {number}")
        loop.close_with(less.filter(lambda n: n > 0).uid("more"))
        out = less.filter(lambda n: n <= 0).uid("out")
        if number == 1:
            out = out.map(lambda n: n, Types.LONG())
        records += some(out, 3) if number < len(lives) - 1 else collected(out)
    assert records == [0] * 40


@pytest.mark.parametrize("old", SOURCES)
@pytest.mark.parametrize("new", SOURCES)
def test_a_source_of_another_kind_begins_anew(tmp_path, old, new, capsys):
    for source in (old, new):
        stream = SOURCES[source](environment(tmp_path, 1, penstock__step__records=10)).uid("source")
        records = some(stream.map(lambda n: n, Types.LONG()), 2)
        capsys.readouterr() if source is old else None
    kinds = {"function": 0, "splits": 1}
    if old == new or {old, new} == {"collection", "sequence"}:
        assert records == list(range(20, 40))
    else:
        assert kinds.get(old, 2) != kinds.get(new, 2)
        assert records == list(range(20))
        assert "which is a source of another kind now" in capsys.readouterr().err


def test_a_function_with_another_parallelism_begins_anew_and_that_is_said(tmp_path, capsys):
    class Many(ParallelSourceFunction):
        def open(self, context):
            self.subtask = context.get_index_of_this_subtask()

        def run(self, ctx):
            for number in range(50):
                ctx.collect(100 * self.subtask + number)

        def cancel(self):
            pass

    def program(parallelism):
        env = environment(tmp_path, parallelism, penstock__step__records=10)
        return env.add_source(Many(), "many", Types.LONG()).uid("many")

    assert sorted(some(program(2), 2)) == [*range(20), *range(100, 120)]
    assert sorted(some(program(2), 2)) == [*range(20, 40), *range(120, 140)]
    assert sorted(collected(program(3))) == [100 * subtask + n for subtask in range(3) for n in range(50)]
    assert "begins again                'Source: many', a function with another parallelism" in capsys.readouterr().err

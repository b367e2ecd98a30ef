"""A damaged savepoint of Flink gives an error of ours, or a savepoint that can be read; nothing else."""

from __future__ import annotations

import contextlib
import tempfile
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cli.program import PlanOnlyExecutor
from penstock.datastream import StreamExecutionEnvironment, TimeCharacteristic
from penstock.errors import PenstockError
from penstock.job.restore.from_flink.importer import import_savepoint
from penstock.job.savepoint.contents import verify
from penstock.job.savepoint.store import read_savepoint
from penstock.plan import Pipeline
from tests.effort import examples
from tests.moves.golden import lines, savepoint
from tests.moves.programs import PROGRAMS, RECORD
from tests.moves.test_moves import REFUSED, Items

MOVES = {f"{line['name']}-{line['flink']}-{line['kind']}": line for line in lines() if line["name"] not in REFUSED}


@cache
def program(name: str) -> Pipeline:
    planner = PlanOnlyExecutor()
    env = StreamExecutionEnvironment.get_execution_environment(executor=planner)
    env.set_parallelism(MOVES[name]["parallelism"]).set_max_parallelism(MOVES[name]["max_parallelism"])
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    records = env.add_source(Items([]), "records", RECORD).uid("records")
    PROGRAMS[MOVES[name]["name"]](env, records).print()
    try:
        env.execute("damage")
    except BaseException:
        assert planner.pipeline is not None
    return planner.pipeline  # pyright: ignore[reportReturnType]


@cache
def files(name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(savepoint(MOVES[name])).iterdir())}


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_flipped_and_missing_bytes_are_refused_or_read(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(MOVES)))
    contents = dict(files(name))
    chosen = data.draw(st.sampled_from(sorted(contents)))
    content = bytearray(contents[chosen])
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    for at, value in data.draw(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=4)):
        if content:
            content[at % len(content)] = value
    allow, pipeline = data.draw(st.booleans()), program(name)
    with tempfile.TemporaryDirectory() as folder:
        for other, kept in contents.items():
            Path(folder, other).write_bytes(content if other == chosen else kept)
        with contextlib.suppress(PenstockError):
            import_savepoint(folder, pipeline, f"{folder}/new", allow=allow)
            assert not verify(read_savepoint(f"{folder}/new")).problems


def test_a_whole_savepoint_comes_over(tmp_path: Path) -> None:
    for name, line in MOVES.items():
        imported = import_savepoint(savepoint(line), program(name), str(tmp_path / name))
        kept = any(operator.states for operator in imported.operators)
        assert kept or line["name"] == "all_session", name  # which has no window open half-way
        assert not verify(read_savepoint(tmp_path / name)).problems

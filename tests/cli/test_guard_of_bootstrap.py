"""The guard's verdict on a savepoint that was filled from a table is what the run then does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.common import Types
from penstock.datastream.state import ValueStateDescriptor
from penstock.savepoints import KeyedStateBootstrapFunction, SavepointWriter

pytestmark = pytest.mark.slow

PROGRAM = """
from {package}.common import Types
from {package}.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from {package}.datastream.state import ValueStateDescriptor

class Total(KeyedProcessFunction):
    def open(self, context):
        self.total = context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value[1])
        yield value[0], self.total.value()

env = StreamExecutionEnvironment.get_execution_environment()
pairs = env.from_collection([(1, 5), (2, 5)], Types.TUPLE([Types.LONG(), Types.LONG()])).uid("pairs")
pairs.key_by(lambda pair: pair[0], Types.LONG()).process(Total()).uid("totals").print()
env.execute("totals")
"""


class Fill(KeyedStateBootstrapFunction):
    def open(self, runtime_context) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value, ctx) -> None:
        self.total.update(value[1])


@pytest.mark.parametrize(("options", "works"), [((), True), (("--pyflink",), False)])
def test_check_and_run_agree(penstock, tmp_path: Path, monkeypatch, options: tuple[str, ...], works: bool) -> None:
    monkeypatch.chdir(tmp_path)
    writer = SavepointWriter(job="totals")
    rows = [(1, 100), (2, 200)]
    writer.with_keyed_state("totals", rows, lambda pair: pair[0], Types.LONG(), Fill(), parallelism=1)
    place = writer.write(tmp_path / "savepoint").place
    Path("job.py").write_text(PROGRAM.format(package="pyflink" if options else "penstock"))
    checked = penstock("check", *options, "--from-savepoint", place, "job.py")
    verdict = json.loads(penstock("savepoint", "check", *options, "--json", place, "job.py").stdout)
    ran = penstock("run", *options, "--local", "--from-savepoint", place, "--checkpoint-directory", "job", "job.py")
    assert (checked.exit_code == 0, verdict["restored"], ran.exit_code == 0) == (works, works, works), ran.stderr
    if works:
        assert "(1, 105)" in ran.stdout or "(1,105)" in ran.stdout
    else:
        assert "penstock.pyflink" in ran.stderr
        assert "penstock.pyflink" in checked.output

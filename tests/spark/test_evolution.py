"""Programs that are changed between two runs with one checkpoint directory, on Spark: converted, refused, and with
classes of the program's own main module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.common import Types
from penstock.datastream import ValueStateDescriptor
from penstock.errors import InvalidProgramError, StateError
from tests.job.steps.evolving import Stateful, environment, fed, get, kept, put, run
from tests.running import collected

FIRST = [("a", 1), ("b", 2), ("c", 3)]
MORE = [*FIRST, *((key, 0) for key in "abcd")]
ROOT = Path(__file__).parents[2]


def value(declared, name="x"):
    return ValueStateDescriptor(name, declared)


def test_a_changed_program_goes_on_or_is_refused(spark, tmp_path):
    folder = tmp_path / "job"
    run(folder, FIRST, value(Types.INT()), put, spark=spark)
    (tmp_path / "seen").unlink()
    before = kept(folder)
    with pytest.raises(
        InvalidProgramError, match=r"in operator 'KeyedProcess' \(OperatorID .*uid 'kept'\): The state 'x'"
    ) as failure:
        run(folder, MORE, value(Types.STRING()), get, spark=spark)
    assert failure.value.flink_class == "org.apache.flink.util.StateMigrationException"
    with pytest.raises(StateError, match=r"version 1 has failed for the key '[abc]': ZeroDivisionError"):
        run(folder, MORE, value(Types.INT()).migrated_by(lambda old: old // 0), get, spark=spark)
    assert not (tmp_path / "seen").exists()
    assert kept(folder) == before
    new = value(Types.STRING(), "y").renamed_from("x").migrated_by(lambda old: f"<{old}>")
    assert run(folder, MORE, new, get, spark=spark, parallelism=3) == [
        ("a", "<1>"),
        ("b", "<2>"),
        ("c", "<3>"),
        ("d", None),
    ]
    assert run(folder, [*MORE, ("b", 0)], new, get) == [("b", "<2>")]


def test_keys_of_another_type_are_refused_by_a_reason(spark, tmp_path):
    folder = tmp_path / "job"
    run(folder, FIRST, value(Types.INT()), put, spark=spark)
    keyed = fed(environment(folder, spark=spark), folder, MORE).key_by(lambda record: record[1], Types.INT())
    with pytest.raises(InvalidProgramError, match=r"the keys were declared Types.STRING\(\) and are Types.INT\(\) now"):
        collected(keyed.process(Stateful(value(Types.INT()), get)).uid("kept"))


PROGRAM = """
import sys
from dataclasses import dataclass
from penstock.common import Types
from penstock.datastream import ValueStateDescriptor
from tests.job.steps.evolving import run
from pathlib import Path

@dataclass
class Basket:
    {fields}

def use(state, number):
    basket = state.value()
    if basket is None:
        state.update(Basket(number))
    return repr(basket), {known}

if __name__ == "__main__":
    spark = None
    if "spark" in sys.argv:
        import os
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from penstock.spark.session import open_session
        from tests.running import INTERPRETED
        spark = open_session("local[2]", INTERPRETED)
    records = [("a", 1), ("b", 2)] * int(sys.argv[2])
    print(run(Path(sys.argv[1]), records, ValueStateDescriptor("x"), use, spark=spark))
"""


def program(folder, fields, times, *where):
    done = start(folder, PROGRAM.format(fields=fields, known="isinstance(basket, Basket)"), times, *where)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def start(folder, text, times, *where):
    script = folder / "program.py"
    script.write_text(text)
    command = [sys.executable, str(script), str(folder / "job"), str(times), *where]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert "Warning" not in done.stderr
    return done


def test_classes_of_the_main_module_from_here_to_there_and_back(tmp_path):
    """Written on Spark, where they are no module's, read by a local program that has changed them, and the other way
    round."""
    assert program(tmp_path, "things: int", 1, "spark") == "[('a', ('None', False)), ('b', ('None', False))]"
    output = program(tmp_path, "colour: str = 'red'\n    things: int = 0", 2)
    assert output == (
        "[('a', (\"Basket(colour='red', things=1)\", True)), ('b', (\"Basket(colour='red', things=2)\", True))]"
    )
    output = program(tmp_path, "things: int\n    size: int = 9", 3, "spark")
    assert output == "[('a', ('Basket(things=1, size=9)', True)), ('b', ('Basket(things=2, size=9)', True))]"


def test_a_class_that_no_function_names_is_told_of(tmp_path):
    """It does not go to the executors. In this process the program has it all the same."""
    text = PROGRAM.format(fields="things: int", known="basket is not None")
    assert program(tmp_path, "things: int", 1) == "[('a', ('None', False)), ('b', ('None', False))]"
    nameless = text.replace("state.update(Basket(number))", "raise ValueError")
    done = start(tmp_path, nameless, 2, "spark")
    assert done.returncode != 0
    assert "on Spark, which no function names" in done.stderr
    assert "name it in the function that has the state" in done.stderr
    done = start(tmp_path, nameless, 2)
    assert done.stdout.strip() == "[('a', ('Basket(things=1)', True)), ('b', ('Basket(things=2)', True))]", done.stderr
    assert program(tmp_path, "things: int", 3, "spark") == (
        "[('a', ('Basket(things=1)', True)), ('b', ('Basket(things=2)', True))]"
    )

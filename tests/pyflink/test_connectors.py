"""Programs for connectors of other systems: planned with neither client nor server, and refused before they run where
nothing can run."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Generator
from typing import Any

import pytest

from penstock.cli.program import Planning, run_program
from penstock.datastream.environment import executors
from penstock.errors import UnsupportedError
from tests.pyflink.recorded import unpacked
from tests.pyflink.test_programs import led_away

FOLDER = unpacked("connectors")
CASES = [
    *[
        (f"kafka_of_{form}", way, operators)
        for form, mapped in (("json", []), ("csv", []), ("avro", []), ("bytes", ["Map"]))
        for way, operators in (
            ("write", ["Source: Collection Source", *mapped, f"Sink: To {'names' if mapped else 'stations'}"]),
            ("read", [f"Source: From {'names' if mapped else 'stations'}", *mapped, "Sink: Print to Std. Out"]),
        )
    ],
    ("kafka_of_fields", "", ["Source: Collection Source", "Map", "Sink: Levels"]),
    ("old_kafka_of_avro", "write", ["Source: Collection Source", "Sink: To stations"]),
    ("old_kafka_of_avro", "read", ["Source: From stations", "Sink: Print to Std. Out"]),
    *[
        ("elasticsearch_sinks", version, ["Source: Collection Source", "Sink: Index"])
        for version in ("six", "six_by_name", "seven", "seven_by_name")
    ],
    ("pulsar_to_pulsar", "", ["Source: Tides", "Sink: Levels"]),
]
REFUSED = [
    ("elasticsearch_sinks", "six", "ElasticsearchSink .*, operator 'Sink: Index': use sink_to\\(\\) with a SparkSink"),
    ("elasticsearch_sinks", "seven_by_name", "ElasticsearchSink .*, operator 'Sink: Index': use"),
    ("pulsar_to_pulsar", "", "PulsarSource .*, operator 'Source: Tides': use .*PulsarSink .*, operator 'Sink: Levels'"),
]
BLOCKED = """
import sys, warnings
sys.modules.update(dict.fromkeys(("confluent_kafka", "fastavro", "pyspark"), None))  # so that to import them fails
warnings.simplefilter("ignore")
from penstock.cli.program import Planning
print(Planning(pyflink=True, arguments=sys.argv[2:]).plan(sys.argv[1]).stream_graph.job_name)
"""


def arguments_of(way: str) -> list[str]:
    return [way] if way else []


def operators(pipeline: Any) -> list[str]:
    return [node.name for node in pipeline.stream_graph.nodes]


@pytest.fixture
def quiet() -> Generator[None, None, None]:
    """Nothing is said of Flink's jars, and ``pyflink`` means nothing any more afterwards."""
    with warnings.catch_warnings(), led_away():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("program", "way", "wanted"), CASES)
def test_a_program_is_planned(program: str, way: str, wanted: list[str]) -> None:
    assert operators(Planning(pyflink=True, arguments=arguments_of(way)).plan(str(FOLDER / f"{program}.py"))) == wanted


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("program", "way", "why"), REFUSED)
def test_it_says_why_it_does_not_run(program: str, way: str, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        run_program(str(FOLDER / f"{program}.py"), arguments_of(way), executors.get("local"), pyflink=True)


def test_no_client_is_needed_to_plan() -> None:
    arguments = [sys.executable, "-c", BLOCKED, str(FOLDER / "kafka_of_json.py"), "write"]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (0, "write\n"), run.stderr


def test_flinks_jars_are_named_as_without_effect() -> None:
    with led_away(), pytest.warns(UserWarning, match=r"no effect in Penstock.*flink-sql-connector-pulsar\.jar"):
        Planning(pyflink=True).plan(str(FOLDER / "pulsar_to_pulsar.py"))


def test_every_program_is_planned() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {program for program, _, _ in CASES}

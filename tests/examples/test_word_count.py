"""The reference program against plain Python: the same text, counted without Penstock, subtask numbers included."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.environment import executors

EXAMPLE = Path(__file__).parents[2] / "examples" / "word_count.py"

TEXT = (
    """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness; it was -- naturally -- the epoch of belief (was it?)

Ça va? ça va; 漢字 漢字 漢字 漢字 漢字 𝒳 𝒳 𝒳 𝒳 𝒳 𝒳 x_1 x_1 x_1 x_1 x_1 x_1
"""
    + "the quick brown fox\n" * 23
)

# --- the independent computation: Java's String.hashCode, Flink's murmur and key group ranges, and counting ---


def java_hash(text: str) -> int:
    """String.hashCode: 31 * h + unit over UTF-16 units, as a signed 32-bit int."""
    units = text.encode("utf-16-be")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def murmur(value: int) -> int:
    """One word through 32-bit MurmurHash3 as Flink does it; never negative."""
    mask = 0xFFFFFFFF
    word = value * 0xCC9E2D51 & mask
    word = (word << 15 | word >> 17) & mask
    word = word * 0x1B873593 & mask
    word = (word << 13 | word >> 19) & mask
    word = (word * 5 + 0xE6546B64) & mask
    word ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        word = (word ^ word >> shift) * factor & mask
    signed = word - (1 << 32) if word >> 31 else word
    return 0 if signed == -(1 << 31) else abs(signed)


def subtask(word: str, parallelism: int, max_parallelism: int = 128) -> int:
    return murmur(java_hash(word)) % max_parallelism * parallelism // max_parallelism


def expected(text: str, window: int, slide: int, parallelism: int) -> Counter[str]:
    lines: Counter[str] = Counter()
    for word, occurrences in Counter(re.findall(r"\w+", text.lower())).items():
        prefix = f"{subtask(word, parallelism) + 1}> " if parallelism > 1 else ""
        lines.update(f"{prefix}({word},{min(seen, window)})" for seen in range(slide, occurrences + 1, slide))
    return lines


def test_the_computation_knows_flinks_hashes():
    assert java_hash("hello") == 99162322
    assert java_hash("𝒳") == 1772318
    assert murmur(99162322) % 128 * 3 // 128 == subtask("hello", 3)


# --- the program ---


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("word_count", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def printed(example, executor, path, window, slide, parallelism, capfd) -> Counter[str]:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    counts = example.word_counts(env, str(path), window, slide).set_parallelism(parallelism)
    counts.print().set_parallelism(parallelism)
    with executors.override(executor):
        env.execute("test")
    return Counter(capfd.readouterr().out.splitlines())


@pytest.mark.parametrize("parallelism", [1, 2, 3, 7])
@pytest.mark.parametrize(("window", "slide"), [(10, 5), (3, 4), (1, 1)])
def test_local_output_equals_plain_python(example, text_file, capfd, window, slide, parallelism):
    from penstock.local import LocalExecutor

    result = printed(example, LocalExecutor(), text_file, window, slide, parallelism, capfd)
    assert result == expected(TEXT, window, slide, parallelism)
    assert sum(result.values()) > 10


ON_SPARK = """
import sys, word_count
from penstock.datastream import StreamExecutionEnvironment
for parallelism in (1, 2, 7):
    env = StreamExecutionEnvironment.get_execution_environment(master="local[2]")
    env.set_parallelism(1)
    counts = word_count.word_counts(env, sys.argv[1], 10, 5).set_parallelism(parallelism)
    counts.print(f"of {parallelism}").set_parallelism(parallelism)
    env.execute("test")
"""


@pytest.mark.spark
def test_spark_output_equals_plain_python(text_file):
    """In a process of its own, because a process can have one Spark, and other tests have theirs."""
    command = [sys.executable, "-c", ON_SPARK, str(text_file)]
    path = {**os.environ, "PYTHONPATH": str(EXAMPLE.parent)}
    run = subprocess.run(command, env=path, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    for parallelism in (1, 2, 7):
        printed = [line for line in run.stdout.splitlines() if line.startswith(f"of {parallelism}")]
        joined = f"of {parallelism}:" if parallelism > 1 else f"of {parallelism}> "
        assert Counter(line.removeprefix(joined) for line in printed) == expected(TEXT, 10, 5, parallelism)


@pytest.mark.spark
def test_the_default_run_counts_the_default_text(example):
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    assert Counter(run.stdout.splitlines()) == expected(example.sample_text(), 10, 5, 3)


def test_output_goes_to_one_file_per_subtask(text_file, tmp_path):
    folder = tmp_path / "counts"
    command = [sys.executable, "-m", "penstock.cli", "run", "--local", str(EXAMPLE)]
    options = ["--input", str(text_file), "--output", str(folder), "--window", "6", "--slide", "3"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert sorted(path.name for path in folder.iterdir()) == ["1", "2", "3"]
    written = Counter(
        f"{path.name}> {line}" for path in folder.iterdir() for line in path.read_text(encoding="utf-8").splitlines()
    )
    assert written == expected(TEXT, 6, 3, 3)


# --- its plan ---


def test_the_plan_is_that_of_flinks_word_count(example, text_file):
    """Names, IDs, parallelisms and slot groups that Flink 1.11.4 gave the same program written in Java."""
    from penstock.cli.program import Planning

    pipeline = Planning(arguments=["--input", str(text_file)]).plan(str(EXAMPLE))
    graph = pipeline.stream_graph
    assert pipeline.name == "test"
    assert [(node.id, node.name, node.parallelism, node.slot_sharing_group) for node in graph.nodes] == [
        (1, "Source: Custom File Source", 1, "default"),
        (2, "Split Reader: Custom File Source", 1, "default"),
        (3, "Flat Map", 1, "default"),
        (4, "Map", 4, "flatmap_sg"),
        (
            6,
            "Window(GlobalWindows(), CountTrigger, CountEvictor, SumAggregator, PassThroughWindowFunction)",
            3,
            "sum_sg",
        ),
        (7, "Sink: Print to Std. Out", 3, "sum_sg"),
    ]
    assert [operator_id[:8] for operator_id in graph.operator_ids().values()] == [
        "bc764cd8",
        "20ba6b65",
        "c09dc291",
        "47d89856",
        "8c01f447",
        "174c1fee",
    ]
    assert [(edge.source, edge.target, edge.partitioner) for edge in graph.edges] == [
        (1, 2, "FORWARD"),
        (2, 3, "FORWARD"),
        (3, 4, "REBALANCE"),
        (4, 6, "HASH"),
        (6, 7, "FORWARD"),
    ]

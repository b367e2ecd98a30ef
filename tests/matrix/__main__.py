"""The whole matrix, as a command: ``python -m tests.matrix [--spark] [--seconds N] [--seed S] [NAME…]``."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from typing import Any

from tests.matrix.body import check
from tests.matrix.knobs import KNOBS, everything
from tests.matrix.programs import cases


def executor_of(spark: bool) -> Any:
    """The executor to compare with what this process gives; None for this process."""
    if not spark:
        return None
    from penstock.spark import SparkExecutor

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkExecutor(master="local[2,4]", progress=False)


def run(names: list[str], executor: Any, seconds: float, seed: int) -> int:
    """Go through the matrix; how many comparisons failed."""
    settings = list(everything())
    todo = [(name, setting) for name in names for setting in settings]
    random.Random(seed).shuffle(todo)
    started, done, refused, wrong = time.monotonic(), 0, 0, 0
    for name, setting in todo:
        if time.monotonic() - started > seconds:
            break
        try:
            refused += bool(check(name, setting, executor).refused)
        except Exception as error:
            wrong += 1
            print(f"{name}: {setting}: {type(error).__name__}: {str(error)[:1000]}", flush=True)
        done += 1
    knobs = " x ".join(f"{len(values)} {knob}" for knob, values in KNOBS.items())
    print(
        f"{len(names)} programs, {len(settings)} settings ({knobs}): {done} of {len(todo)} runs compared in "
        f"{time.monotonic() - started:.0f} s, {refused} refused, {wrong} differ."
    )
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description="The whole matrix.")
    parser.add_argument("--spark", action="store_true", help="on Spark; otherwise in this process")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many seconds")
    parser.add_argument("--seed", type=int, default=0, help="of the order of runs")
    parser.add_argument("names", nargs="*", help="of programs; all unless given")
    options = parser.parse_args()
    sys.exit(bool(run(options.names or list(cases()), executor_of(options.spark), options.seconds, options.seed)))

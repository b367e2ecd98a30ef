"""Word count with running sums, on Flink's own Java: a JVM with a cluster that runs one job after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from functions import MASK

sys.path.append(str(Path(__file__).resolve().parents[1]))

import jars


def word_count() -> Callable[[str, str], None]:
    """The job: the folder of the words, on a line, to the JVM, which answers with the number and sum of the records."""
    jvm = subprocess.Popen([*jars.java("flink"), "words"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    asked, answers = jvm.stdin, jvm.stdout
    assert asked is not None
    assert answers is not None

    def job(data: str, folder: str) -> None:
        print(data, file=asked, flush=True)
        facts = json.loads(answers.readline())
        Path(folder, "flink.sum").write_text(f"{facts['rows']} {facts['checksum'] & MASK}")

    return job

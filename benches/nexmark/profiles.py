"""Where the time of Penstock's local executor goes: samples of the stack, by part."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from penstock_run import environment, summed

import penstock

INTERVAL = 0.001
PACKAGE = str(Path(penstock.__file__).parent)
HERE = str(Path(__file__).parent)
PARTS = {
    f"{HERE}/penstock_events.py": "parse",
    f"{HERE}/penstock_queries.py": "functions",
    f"{HERE}/sums.py": "sink",
    f"{PACKAGE}/common/row.py": "rows",
    f"{PACKAGE}/common/watermark_strategy.py": "watermarks",
    f"{PACKAGE}/connectors": "source",
    f"{PACKAGE}/runtime/io": "source",
    f"{PACKAGE}/runtime/exchange": "exchange",
    f"{PACKAGE}/runtime/buffers": "exchange",
    f"{PACKAGE}/local": "exchange",
    f"{PACKAGE}/runtime/operators": "operators",
    f"{PACKAGE}/runtime/windows": "operators",
    f"{PACKAGE}/runtime/state": "operators",
    f"{PACKAGE}/runtime/chain": "chain",
    f"{PACKAGE}/runtime": "task",
    f"{PACKAGE}": "driver",
}
"""Parts by the place of the code; the innermost frame with a place decides."""


def part(frame: FrameType | None) -> tuple[str, str]:
    """The part that a frame belongs to, and the function that decided it."""
    while frame is not None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if "<fused chain>" in file:
            return "chain", "fused chain"
        for place, label in PARTS.items():
            if file.startswith(place):
                line = f":{frame.f_lineno}" if name == "<lambda>" else ""
                return label, f"{Path(file).stem}.{name}{line}"
        frame = frame.f_back
    return "other", ""


def parts(query: str, format: str, folder: Path) -> str:
    """CPU time of a round by part, and the functions with most of it."""
    summed(environment("local"), query, format, folder)
    samples: Counter[tuple[str, str]] = Counter()

    def sample(number: int, frame: FrameType | None) -> None:
        samples[part(frame)] += 1

    before = signal.signal(signal.SIGPROF, sample)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        summed(environment("local"), query, format, folder)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    cpu = time.process_time() - started
    total = samples.total()
    by_part: Counter[str] = Counter()
    for (label, _), count in samples.items():
        by_part[label] += count
    shares = ", ".join(f"{label} {count / total:.0%}" for label, count in by_part.most_common())
    top = ", ".join(f"{name} {count / total:.0%}" for (_, name), count in samples.most_common(8))
    return f"{query} {format}, {cpu:.2f} s: {shares}\n    {top}"

"""Visits of a web site out of its journals, which grow for ever: event-time sessions over a source of one's own.

Each server appends lines to a journal of its own. The source gives a split for each journal, whose position is a byte,
so that a job that was killed reads each line once; and the slowest journal holds the others' watermark back. A visit is
over when nothing is clicked for ten seconds of the journals' time. The last clicks show that time has gone on.

    penstock run --local examples/clickstream.py

Prints::

    ann: 3 clicks from 1 s to 9 s
    bob: 2 clicks from 3 s to 4 s
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from penstock.common import Configuration, Duration, Time, Types, WatermarkStrategy
from penstock.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.datastream.window import EventTimeSessionWindows, TimeWindow

Click = tuple[int, str]  # second, who
JOURNALS = {
    "east.log": "1 ann\n3 bob\n4 ann\n40 joe\n",
    "west.log": "4 bob\n9 ann\n41 joe\n",
}


class Journals(Source[Click]):
    """Lines of files that grow, ``second who``. Whoever appends, appends whole lines."""

    bounded = False
    together = True  # all journals are there at once, and each has a watermark of its own
    produced_type = Types.TUPLE([Types.LONG(), Types.STRING()])

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def splits(self, parallelism: int) -> Sequence[Split]:
        files = sorted(Path(self.folder).glob("*.log"))
        return [Split(file.name, 0, file.stat().st_size) for file in files]

    def read(self, split: Split) -> Iterator[Records[Click]]:
        with open(Path(self.folder, split.id), "rb") as file:
            file.seek(split.start)
            while file.tell() < split.end:
                lines = file.readlines(min(1 << 16, split.end - file.tell()))
                fields = (line.decode().split() for line in lines)
                yield Records([(int(second), who) for second, who in fields], position=file.tell())


def in_milliseconds(click: Click, _: int | None) -> int:
    """When a click was."""
    return click[0] * 1000


class Visit(ProcessWindowFunction[Click, str, str, TimeWindow]):
    """A sentence for each session."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Click]
    ) -> Iterable[str]:
        seconds = sorted(second for second, _ in elements)
        yield f"{key}: {len(seconds)} clicks from {seconds[0]} s to {seconds[-1]} s"


def main() -> None:
    """Write two journals, and follow them until two visits are over."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in JOURNALS.items():
            Path(folder, name).write_text(text)
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration({"execution.checkpointing.dir": f"{folder}/job"})
        )
        in_order = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(in_milliseconds)
        by_time = in_order.with_idleness(Duration.of_minutes(1))  # a server that is down holds nobody back for longer
        clicks = env.from_source(Journals(folder), by_time, "journals").uid("journals")
        sessions = clicks.key_by(lambda click: click[1], key_type=Types.STRING()).window(
            EventTimeSessionWindows.with_gap(Time.seconds(10))
        )
        visits = sessions.process(Visit(), output_type=Types.STRING()).uid("visits")
        with visits.execute_and_collect("clickstream") as results:  # leaving the block cancels the job
            for line in sorted(next(results) for _ in range(2)):
                print(line)


if __name__ == "__main__":
    main()

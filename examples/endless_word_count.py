"""Words of files that appear in a folder, counted for ever, in steps, each word once whatever dies.

The program keeps what it knows in a checkpoint directory, and goes on from there when it is started again. Here it is
told to end when it has read what is there, and is started twice. Without ``penstock.step.available-now`` it would go on
waiting.

    penstock run --local examples/endless_word_count.py

Prints::

    monday: (to,1) (be,1) (or,1) (not,1) (to,2) (be,2)
    tuesday: (to,3) (do,1)
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat

COUNT = Types.TUPLE([Types.STRING(), Types.INT()])


def count(inbox: Path, job: Path) -> list[tuple[str, int]]:
    """Go on counting, until everything in the folder has been read."""
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration({"execution.checkpointing.dir": str(job), "penstock.step.available-now": "true"})
    )
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(inbox))
    watched = lines.monitor_continuously(Duration.of_millis(10)).build()
    words = env.from_source(watched, WatermarkStrategy.no_watermarks(), "inbox").uid("inbox")
    pairs = words.flat_map(lambda line: [(word, 1) for word in line.split()], output_type=COUNT)
    counts = pairs.key_by(lambda pair: pair[0], key_type=Types.STRING()).sum(1).uid("counts")
    with counts.execute_and_collect("endless word count") as results:
        return list(results)


def main() -> None:
    """Run the program on two days."""
    with tempfile.TemporaryDirectory() as folder:
        inbox = Path(folder, "inbox")
        inbox.mkdir()
        for day, text in (("monday", "to be or not to be"), ("tuesday", "to do")):
            Path(inbox, f"{day}.txt").write_text(f"{text}\n")
            counts = count(inbox, Path(folder, "job"))
            print(f"{day}:", *(f"({word},{number})" for word, number in counts))


if __name__ == "__main__":
    main()

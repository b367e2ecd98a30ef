"""Word counts over the last occurrences of each word, in the order the text is read.

The text is split into words; every ``--slide`` occurrences of a word, the number of its last ``--window`` occurrences
is printed. Lines read ``n> (word,count)``, n being the subtask that Flink would choose for the word.

    python examples/word_count.py
    python examples/word_count.py --input book.txt --window 20 --slide 10 --output counts
    penstock explain examples/word_count.py
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.common import Types
from penstock.datastream import DataStream, StreamExecutionEnvironment

NO_WORD = re.compile(r"\W+")


def split(line: str) -> Iterator[str]:
    """The words of a line, in lower case."""
    return (word for word in NO_WORD.split(line.lower()) if word)


def word_counts(env: StreamExecutionEnvironment, path: str, window: int, slide: int) -> DataStream[tuple[str, int]]:
    """The program: a stream of (word, count) from the text file at ``path``."""
    return (
        env.read_text_file(path)
        .flat_map(split, output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .set_parallelism(4)
        .slot_sharing_group("flatmap_sg")
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .count_window(window, slide)
        .sum(1)
        .set_parallelism(3)
        .slot_sharing_group("sum_sg")
    )


def sample_text() -> str:
    """English prose that comes with every Python: the language reference behind help(), as one text."""
    from pydoc_data.topics import topics

    return "\n".join(topics.values())


def main() -> None:
    """Parse the options, build the program, run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", metavar="FILE", help="text to count (default: the texts of Python's help())")
    parser.add_argument("--window", type=int, default=10, help="occurrences a count looks back on (default: 10)")
    parser.add_argument("--slide", type=int, default=5, help="occurrences between two counts of a word (default: 5)")
    parser.add_argument("--output", metavar="FOLDER", help="write the counts to files instead of printing them")
    parser.add_argument("--master", help="Spark master, such as local[4] (default: local[*])")
    options = parser.parse_args()

    env = StreamExecutionEnvironment.get_execution_environment(master=options.master)
    env.set_parallelism(1)

    with tempfile.TemporaryDirectory() as folder:
        path = options.input
        if path is None:
            sample = Path(folder, "topics.txt")
            sample.write_text(sample_text(), encoding="utf-8")
            path = str(sample)
        counts = word_counts(env, path, options.window, options.slide)
        sink = counts.write_as_text(options.output) if options.output else counts.print()
        sink.set_parallelism(3)
        env.execute("test")


if __name__ == "__main__":
    main()

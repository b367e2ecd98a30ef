"""Words by ``reduce`` in BATCH mode: one record per word."""

from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

LINES = ["the quick fox", "the lazy dog", "the fox"]


def split(line):
    yield from line.split()


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    lines = env.from_collection(LINES, type_info=Types.STRING())
    counts = (
        lines.flat_map(split, output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .reduce(lambda left, right: (left[0], left[1] + right[1]))
    )
    counts.print()
    env.execute("word count")


if __name__ == "__main__":
    main()

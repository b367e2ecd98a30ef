"""How often each word has occurred so far: the first program of the README.

Words go to one of two subtasks by the word, so that all of a kind are counted in one place. A stream has no end in
general, so each word prints its count as it comes; the highest number of a word is how often it occurs.

    python examples/counts.py
    penstock run --local examples/counts.py
    penstock explain examples/counts.py

Prints::

    (not,1)
    (it,1)
    (to,1)
    (be,1)
    (or,1)
    (to,2)
    (be,2)
    (be,3)
    (so,1)
"""

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

lines = env.from_collection(["to be or not to be", "be it so"], type_info=Types.STRING())
counts = (
    lines.flat_map(lambda line: line.split(), output_type=Types.STRING())
    .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    .key_by(lambda pair: pair[0], key_type=Types.STRING())
    .sum(1)
    .set_parallelism(2)
)
counts.print()
env.execute("counts")

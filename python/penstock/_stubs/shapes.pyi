"""Named graphs of any size."""

from penstock._stubs.stream_graph import StreamGraph

def layered_dag(
    operators: int, *, width: int = 100, inputs: int = 2, parallelism: int = 4, seed: int = 0
) -> StreamGraph:
    """Layers of ``width`` operators; each reads the one above it without partitioner, and drawn ones of that layer by HASH.

    Args:
        operators: how many there are, from 1; the first layer are sources, the last may be shorter.
        width: operators of a layer, from 1.
        inputs: edges into each operator, 1 to 65,535; with 2 it is a two-input operator.
        parallelism: of every operator, 1 to 32,768.
        seed: of what is drawn, 0 to 2**64 - 1.

    Raises:
        SpecError: an argument out of bounds.
    """

def forward_chain(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and operators behind it, one after the other: a single chain.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def keyed_pipelines(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """Pipelines of a source and a map, then behind a HASH edge an aggregation, a filter and a sink: two vertices each.

    Args:
        operators: how many there are, from 1; the last pipeline may be shorter than five.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def fan_in(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """Sources that one sink reads, each through a partitioner drawn from those that never chain.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: of what is drawn, 0 to 2**64 - 1.

    Raises:
        SpecError: an argument out of bounds.
    """

def fan_out(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source that sinks read, each through a partitioner drawn from those that never chain.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: of what is drawn, 0 to 2**64 - 1.

    Raises:
        SpecError: an argument out of bounds.
    """

def uid_table(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and sinks behind REBALANCE edges, each with the uid ``uid-`` and its id.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def diamonds(operators: int, *, yielding: bool = False, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and diamonds one after the other: an operator, two branches and a join, which the next diamond reads.

    Args:
        operators: how many there are, from 1; the last diamond may be incomplete.
        yielding: whether operators and branches (not joins) yield to the mailbox; Flink's time doubles with each.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def yielding_chain(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and, behind a REBALANCE edge, yielding operators one after the other.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def all_to_all(parallelism: int, *, seed: int = 0) -> StreamGraph:
    """A source and a keyed aggregation: ``parallelism`` squared execution edges.

    Args:
        parallelism: of both operators, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def scheduler_benchmark(parallelism: int = 4000, *, blocking: bool = False, seed: int = 0) -> StreamGraph:
    """The graph of Flink's scheduler benchmarks (SchedulerBenchmarkBase): a source, a sink, an all-to-all exchange between.

    Args:
        parallelism: of both operators, 1 to 32,768.
        blocking: whether the exchange is BATCH, as in the batch benchmarks, instead of PIPELINED (streaming).
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

"""Random programs of stateless operators, and what they compute, by plain Python."""

from __future__ import annotations

import random
from collections import Counter

from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from tests.job.programs import Program

PARTITIONERS = [None, None, None, "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH", "CUSTOM", "FORWARD"]


def operator_of(kind, n):
    """A runtime operator and the same thing in plain Python, from a record to records."""
    if kind == "map":
        return StreamMap(lambda x: x * 3 + n), lambda x: [x * 3 + n]
    if kind == "filter":
        return StreamFilter(lambda x: x % (n + 2) != 0), lambda x: [x] if x % (n + 2) != 0 else []
    return StreamFlatMap(lambda x: [x] * (x % 3)), lambda x: [x] * (x % 3)


def spec_of(partitioner):
    if partitioner == "HASH":
        return KeyPartition(lambda x: x % 17)
    return CustomPartition(lambda key, n: key % n, lambda x: x) if partitioner == "CUSTOM" else None


def edge_from(source, partitioner, may_forward):
    """An edge; its operator's own partitioner where FORWARD is drawn and cannot be."""
    if partitioner == "FORWARD" and not may_forward:
        partitioner = None
    return {"source": source, "partitioner": partitioner, "spec": spec_of(partitioner)}


def random_program(seed, chaining=True, scale=None):
    """A program with one sink per leaf, and the expected records of each sink as a Counter.

    Args:
        seed: decides everything but the two below.
        chaining: of the program.
        scale: parallelism of all operators; None for a random one each.
    """
    draw = random.Random(seed)
    program = Program(chaining=chaining)
    nodes, results, parallelism, read = [], {}, {}, set()
    for _ in range(draw.randint(1, 2)):
        records = [draw.randrange(1000) for _ in range(draw.choice([0, 5, 300]))]
        node = program.source(records)
        nodes.append(node)
        results[node], parallelism[node] = Counter(records), 1
    for _ in range(draw.randint(1, 9)):
        operator, plain = operator_of(draw.choice(["map", "map", "filter", "flat_map"]), draw.randrange(5))
        inputs = draw.choices(nodes, k=draw.choice([1, 1, 1, 2, 3]))
        p = draw.randint(1, 4)
        p = p if scale is None else scale
        edges = [edge_from(source, draw.choice(PARTITIONERS), parallelism[source] == p) for source in inputs]
        expected = Counter()
        for edge in edges:
            copies = p if edge["partitioner"] == "BROADCAST" else 1
            for value, count in results[edge["source"]].items():
                for out in plain(value):
                    expected[out] += count * copies
        if sum(expected.values()) > 20_000:
            continue
        node = program.add(operator, *edges, p=p, chain=draw.choice(["ALWAYS", "ALWAYS", "HEAD", "NEVER"]))
        nodes.append(node)
        results[node], parallelism[node] = expected, p
        read.update(inputs)
    leaves = [node for node in nodes if node not in read]
    for node in leaves:
        program.collect(node, id=str(node))
    return program, {str(node): results[node] for node in leaves}

"""What choosing a channel costs: one record after the other, as a function that emits to a writer does, and by the
batch, as generated functions do. And what a codec costs per record."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from penstock.common import Types
from penstock.runtime.exchange.selectors import channel_selector, splitter
from penstock.runtime.keys.partition import CustomPartition, KeyPartition

CHANNELS, MAX_PARALLELISM = 4, 128
BATCH = 512
KEYS = 10_000
WAYS = ("record by record", "by the batch")
CODECS = ("pickle", "columns", "columns in Python")
Work = Callable[[], int]


def first(record: tuple[Any, ...]) -> Any:
    return record[0]


def both(record: tuple[Any, ...]) -> Any:
    return record


def modulo(key: int, channels: int) -> int:
    return key % channels


TEXT_KEY = KeyPartition(first, Types.STRING())
INT_KEY = KeyPartition(first, Types.LONG())
TUPLE_KEY = KeyPartition(both, Types.TUPLE([Types.STRING(), Types.INT()]))
SELECTORS: dict[str, tuple[str, Any]] = {
    "rebalance": ("REBALANCE", None),
    "rescale": ("RESCALE", None),
    "shuffle": ("SHUFFLE", None),
    "global": ("GLOBAL", None),
    "custom": ("CUSTOM", CustomPartition(modulo, first)),
    "hash of a text": ("HASH", TEXT_KEY),
    "hash of an integer": ("HASH", INT_KEY),
    "hash of a (text, integer)": ("HASH", TUPLE_KEY),
}
TYPES: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "integers": (Types.LONG(), lambda key: key),
    "floats": (Types.DOUBLE(), lambda key: key / 7),
    "texts": (Types.STRING(), lambda key: f"word{key}"),
    "(text, integer)": (Types.TUPLE([Types.STRING(), Types.INT()]), lambda key: (f"word{key}", 1)),
    "(integer, float, text, truth)": (
        Types.TUPLE([Types.LONG(), Types.DOUBLE(), Types.STRING(), Types.BOOLEAN()]),
        lambda key: (key, key / 7, f"word{key}", key % 2 == 0),
    ),
    "lists of integers, undeclared": (None, lambda key: [key, key + 1]),
}


def keys(count: int) -> Iterator[int]:
    """Some keys more often than others, always the same."""
    draw = random.Random(7).random
    return (int(KEYS * draw() ** 3) for _ in range(count))


def records(name: str, count: int) -> list[Any]:
    """What a selector chooses by: new objects, as a chain makes them."""
    if "text" in name:
        return [(f"word{key}", 1) for key in keys(count)]
    return [(key, 1) for key in keys(count)]


def selecting(name: str, way: str, values: list[Any]) -> tuple[Work, list[int]]:
    """Work that chooses the channel of every record, and how many records each channel must get."""
    kind, partition = SELECTORS[name]
    arguments = kind, partition, MAX_PARALLELISM, CHANNELS
    select = channel_selector(*arguments, 1)
    counted = [0] * CHANNELS
    for value in values:
        counted[select(value)] += 1
    select = channel_selector(*arguments, 1)
    if way == WAYS[0]:
        return lambda: sum(map(select, values)), counted
    split = splitter(*arguments, select, _native())
    batches = [values[at : at + BATCH] for at in range(0, len(values), BATCH)]

    def work() -> int:
        return sum(channel * len(part) for batch in batches for channel, part, _ in split(batch, None)[0])

    return work, counted


def _native() -> Any:
    from penstock.runtime import native

    functions = native.functions()
    assert functions is not None
    return functions


def coding(
    name: str, codec: str, values: list[Any], buffer: int
) -> tuple[Callable[[], list[bytes]], Callable[[list[bytes]], list[Any]]]:
    """Work that writes records into buffers, and work that reads them."""
    from penstock.common.settings.settings import Settings
    from penstock.runtime import native
    from penstock.runtime.buffers.codec import Encoder, decode

    settings = Settings(codec=codec.partition(" ")[0], native=codec == "columns")
    encoder, functions = Encoder(TYPES[name][0], settings), native.functions(settings.native)
    buffers = [values[at : at + buffer] for at in range(0, len(values), buffer)]

    def write() -> list[bytes]:
        return [encoder.encode(some, [], []) for some in buffers]

    def read(written: list[bytes]) -> list[Any]:
        return [decode(data, functions).values for data in written]

    return write, read


def timed(work: Callable[..., Any], *arguments: Any, rounds: int) -> list[float]:
    """CPU seconds of each round."""
    seconds = []
    for _ in range(rounds):
        before = time.process_time()
        work(*arguments)
        seconds.append(time.process_time() - before)
    return seconds

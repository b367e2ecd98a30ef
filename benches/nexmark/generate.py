"""Deterministic Nexmark events, written as Parquet tables, JSON lines and CSV lines.

Persons, auctions and bids come as 1 : 3 : 46 of 50 events, with the fields and the distributions that the Nexmark
suites of nexmark/nexmark and apache/beam describe (hot auctions, bidders, sellers and channels; prices over six
orders of magnitude; ids that are a little ahead of what has been created; fillers up to 100, 500 and 200 bytes).

The events of a block of 50,000 depend on (seed, block, rate) only, so fewer events are a prefix of more of them. Random
numbers are the raw ones of PCG64, which NumPy promises not to change.

    python generate.py --events 100000 --seed 1 --disorder 0 --rate 10000 --out DIR

makes DIR/<events>-s<seed>-d<disorder>-r<rate>/ with

    csv/part-00000.csv ...        one log: "0,<person>", "1,<auction>", "2,<bid>", fields in the order of SCHEMAS
    jsonl/part-00000.jsonl ...    the same log: {"event_type":2,"bid":{...}}
    parquet/{person,auction,bid}/part-00000.parquet ...   three tables
    side_input.csv                key,value for q13
    meta.json

Parts are in order of time. With a disorder of D ms an event comes before every event that is more than D ms younger,
and after every event that is more than D ms older: whoever waits for D ms loses nothing.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

BASE = 1_436_918_400_000  # 2015-07-15T00:00:00Z, the time of the first event
BLOCK = 50_000
PERSONS, AUCTIONS, TOTAL = 1, 3, 50
FIRST_ID, FIRST_CATEGORY, CATEGORIES = 1000, 10, 5
ACTIVE_PEOPLE, IN_FLIGHT, LEAD = 1000, 100, 10
SIDE_INPUT_ROWS = 10_000
CHANNELS = 10_000

STATES = ["AZ", "CA", "ID", "OR", "WA", "WY"]
CITIES = [
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
]
FIRST_NAMES = ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"]
LAST_NAMES = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"]
HOT_CHANNELS = ["Google", "Facebook", "Baidu", "Apple"]

L, S = pa.int64(), pa.string()
SCHEMAS = {
    "person": pa.schema(
        [
            ("id", L),
            ("name", S),
            ("emailAddress", S),
            ("creditCard", S),
            ("city", S),
            ("state", S),
            ("dateTime", L),
            ("extra", S),
        ]
    ),
    "auction": pa.schema(
        [
            ("id", L),
            ("itemName", S),
            ("description", S),
            ("initialBid", L),
            ("reserve", L),
            ("dateTime", L),
            ("expires", L),
            ("seller", L),
            ("category", L),
            ("extra", S),
        ]
    ),
    "bid": pa.schema(
        [("auction", L), ("bidder", L), ("price", L), ("channel", S), ("url", S), ("dateTime", L), ("extra", S)]
    ),
}
TYPES = ["person", "auction", "bid"]


class Draw:
    """Random numbers that are the same everywhere and for ever."""

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(seed))

    def random(self, count: int) -> np.ndarray:
        """From 0 to below 1."""
        return (self._bits.random_raw(count) >> np.uint64(11)) * 2.0**-53

    def integers(self, low: int, high: int, count: int) -> np.ndarray:
        """From ``low`` to below ``high``."""
        return low + (self.random(count) * (high - low)).astype(np.int64)


class Texts:
    """Random texts, cut out of a pool of random letters."""

    def __init__(self, seed: int, gaps: bool) -> None:
        rng = Draw(seed, 999, int(gaps))
        self.pool = rng.integers(ord("a"), ord("z") + 1, 1 << 20).astype(np.uint8)
        if gaps:
            self.pool[rng.random(len(self.pool)) < 1 / 13] = ord(" ")

    def cut(self, rng: Draw, lengths: np.ndarray) -> pa.Array:
        """A text of each of these lengths, which neither begins nor ends with a gap."""
        offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
        np.cumsum(lengths, out=offsets[1:])
        begins = rng.integers(0, len(self.pool) - 1024, len(lengths))
        at = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths) + np.repeat(begins, lengths)
        data = self.pool[at]
        some = lengths > 0
        for edge in (offsets[:-1][some], offsets[1:][some] - 1):
            data[edge] = np.where(data[edge] == ord(" "), ord("x"), data[edge])
        return pa.StringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(data))


def choose(rng: Draw, values: list[str] | pa.Array, count: int) -> pa.Array:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return array.take(pa.array(rng.integers(0, len(array), count)))


def join(*parts: object, by: str = "") -> pa.Array:
    return pc.binary_join_element_wise(
        *[p if isinstance(p, (pa.Array, pa.ChunkedArray)) else pa.scalar(p) for p in parts], by
    )


def text(array: pa.Array) -> pa.Array:
    return array if pa.types.is_string(array.type) else array.cast(S)


def prices(rng: Draw, count: int) -> np.ndarray:
    return np.round(np.power(10.0, rng.random(count) * 6.0) * 100.0).astype(np.int64)


def filler(texts: Texts, rng: Draw, sizes: np.ndarray, wanted: int) -> pa.Array:
    """What brings a record of these sizes to the size that is wanted, more or less a fifth."""
    left = np.maximum(wanted - sizes, 0)
    delta = np.round(left * 0.2).astype(np.int64)
    lengths = left - delta + (rng.random(len(sizes)) * 2 * delta).astype(np.int64)
    return texts.cut(rng, lengths)


def lengths(*arrays: pa.Array) -> np.ndarray:
    return sum(pc.binary_length(array).to_numpy().astype(np.int64) for array in arrays)  # type: ignore[return-value]


class Generator:
    """Events by their number."""

    def __init__(self, seed: int, rate: int) -> None:
        self.seed, self.rate = seed, rate
        self.plain, self.gaps = Texts(seed, False), Texts(seed, True)
        rng = Draw(seed, 998)

        def urls(count: int) -> pa.Array:
            parts = [self.plain.cut(rng, rng.integers(3, 6, count)) for _ in range(3)]
            return join("https://www.nexmark.com/", parts[0], "/", parts[1], "/", parts[2], "/item.htm?query=1")

        cold = urls(CHANNELS)
        numbers = pa.array([int(f"{n:032b}"[::-1], 2) & 0x7FFFFFFF for n in range(CHANNELS)]).cast(S)
        with_id = join(cold, "&channel_id=", numbers)
        has_id = pa.array(rng.random(CHANNELS) < 0.9)
        self.hot_urls = urls(len(HOT_CHANNELS))
        self.cold_urls = pc.if_else(has_id, with_id, cold)
        self.cold_names = join("channel-", pa.array(np.arange(CHANNELS)).cast(S))

    def times(self, numbers: np.ndarray) -> np.ndarray:
        return BASE + numbers * 1000 // self.rate

    def delays(self, numbers: np.ndarray, disorder: int) -> np.ndarray:
        block = int(numbers[0]) // BLOCK
        rng = Draw(self.seed, 997, block)
        return rng.integers(0, disorder + 1, BLOCK)[: len(numbers)]

    def block(self, number: int) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, pa.Table]]]:
        """The numbers of the events of a block, and by type which of them these are and what is in them."""
        numbers = np.arange(number * BLOCK, (number + 1) * BLOCK)
        place = numbers % TOTAL
        of = {
            "person": numbers[place < PERSONS],
            "auction": numbers[(place >= PERSONS) & (place < PERSONS + AUCTIONS)],
            "bid": numbers[place >= PERSONS + AUCTIONS],
        }
        events = {}
        for kind, name in enumerate(TYPES):
            rng = Draw(self.seed, number, kind)
            columns = getattr(self, f"_{name}s")(rng, of[name])
            events[name] = of[name], pa.table(columns, schema=SCHEMAS[name])
        return numbers, events

    def _last_person(self, numbers: np.ndarray) -> np.ndarray:
        return numbers // TOTAL

    def _last_auction(self, numbers: np.ndarray) -> np.ndarray:
        return numbers // TOTAL * AUCTIONS + np.minimum(numbers % TOTAL - PERSONS, AUCTIONS - 1)

    def _some_person(self, rng: Draw, numbers: np.ndarray) -> np.ndarray:
        people = self._last_person(numbers) + 1
        active = np.minimum(people, ACTIVE_PEOPLE)
        return people - active + (rng.random(len(numbers)) * (active + LEAD)).astype(np.int64)

    def _persons(self, rng: Draw, numbers: np.ndarray) -> list[pa.Array]:
        count = len(numbers)
        name = join(choose(rng, FIRST_NAMES, count), choose(rng, LAST_NAMES, count), by=" ")
        mail = join(
            self.plain.cut(rng, rng.integers(3, 7, count)), "@", self.plain.cut(rng, rng.integers(3, 5, count)), ".com"
        )
        digits = [pc.utf8_slice_codeunits(pa.array(rng.integers(10_000, 20_000, count)).cast(S), 1) for _ in range(4)]
        card = join(*digits, by=" ")
        city, state = choose(rng, CITIES, count), choose(rng, STATES, count)
        extra = filler(self.plain, rng, 8 + lengths(name, mail, card, city, state), 200)
        ids = pa.array(self._last_person(numbers) + FIRST_ID)
        return [ids, name, mail, card, city, state, pa.array(self.times(numbers)), extra]

    def _auctions(self, rng: Draw, numbers: np.ndarray) -> list[pa.Array]:
        count = len(numbers)
        hot = rng.integers(0, 4, count) > 0
        seller = np.where(hot, self._last_person(numbers) // 100 * 100, self._some_person(rng, numbers)) + FIRST_ID
        category = FIRST_CATEGORY + rng.integers(0, CATEGORIES, count)
        initial = prices(rng, count)
        times = self.times(numbers)
        horizon = self.times(numbers + IN_FLIGHT * TOTAL // AUCTIONS) - times
        expires = times + 1 + (rng.random(count) * np.maximum(horizon * 2, 1)).astype(np.int64)
        name, description = (
            self.gaps.cut(rng, rng.integers(3, 20, count)),
            self.gaps.cut(rng, rng.integers(3, 100, count)),
        )
        reserve = initial + prices(rng, count)
        extra = filler(self.plain, rng, 48 + lengths(name, description), 500)
        numeric = [pa.array(x) for x in (initial, reserve, times, expires, seller, category)]
        return [pa.array(self._last_auction(numbers) + FIRST_ID), name, description, *numeric, extra]

    def _bids(self, rng: Draw, numbers: np.ndarray) -> list[pa.Array]:
        count = len(numbers)
        last = self._last_auction(numbers)
        least = np.maximum(last - IN_FLIGHT, 0)
        some = least + (rng.random(count) * (last - least + 1 + LEAD)).astype(np.int64)
        auction = np.where(rng.integers(0, 2, count) > 0, last // 100 * 100, some) + FIRST_ID
        hot_bidder = self._last_person(numbers) // 100 * 100 + 1
        bidder = np.where(rng.integers(0, 4, count) > 0, hot_bidder, self._some_person(rng, numbers)) + FIRST_ID
        price = prices(rng, count)
        hot = pa.array(rng.integers(0, 2, count) > 0)
        which_hot, which = (
            pa.array(rng.integers(0, len(HOT_CHANNELS), count)),
            pa.array(rng.integers(0, CHANNELS, count)),
        )
        channel = pc.if_else(hot, pa.array(HOT_CHANNELS).take(which_hot), self.cold_names.take(which))
        url = pc.if_else(hot, self.hot_urls.take(which_hot), self.cold_urls.take(which))
        extra = filler(self.plain, rng, np.full(count, 32), 100)
        return [
            pa.array(auction),
            pa.array(bidder),
            pa.array(price),
            channel,
            url,
            pa.array(self.times(numbers)),
            extra,
        ]


def csv_lines(name: str, table: pa.Table) -> pa.Array:
    columns = [text(table.column(field).combine_chunks()) for field in table.column_names]
    return join(str(TYPES.index(name)), *columns, by=",")


def json_lines(name: str, table: pa.Table) -> pa.Array:
    parts: list[object] = [f'{{"event_type":{TYPES.index(name)},"{name}":{{']
    for number, field in enumerate(table.schema):
        quote = '"' if pa.types.is_string(field.type) else ""
        parts += [f'{"," if number else ""}"{field.name}":{quote}', text(table.column(number).combine_chunks()), quote]
    return join(*parts, "}}")


class Writer:
    """Parts of so many events each, in all formats."""

    def __init__(self, folder: Path, per_part: int, formats: list[str]) -> None:
        self.folder, self.per_part, self.formats = folder, per_part, formats
        self.parts, self.pending = 0, []  # type: ignore[var-annotated]
        for name in formats:
            if name != "parquet":
                (folder / name).mkdir(parents=True)
        if "parquet" in formats:
            for kind in TYPES:
                (folder / "parquet" / kind).mkdir(parents=True)

    def part(self, kinds: np.ndarray, tables: dict[str, pa.Table]) -> None:
        """Write a part: the type of each event, and the events of each type in order."""
        name = f"part-{self.parts:05d}"
        self.parts += 1
        if "parquet" in self.formats:
            for kind, table in tables.items():
                pq.write_table(table, self.folder / "parquet" / kind / f"{name}.parquet", compression="snappy")
        order = np.empty(len(kinds), dtype=np.int64)
        start = 0
        for number in range(len(TYPES)):
            here = kinds == number
            order[here] = np.arange(start, start + here.sum())
            start += here.sum()
        for suffix, lines in (("csv", csv_lines), ("jsonl", json_lines)):
            if suffix in self.formats:
                all_lines = pa.concat_arrays([lines(kind, tables[kind]) for kind in TYPES]).take(pa.array(order))
                with_ends = join(all_lines, "\n")
                start, end = with_ends.offset, with_ends.offset + len(with_ends)
                offsets = np.frombuffer(with_ends.buffers()[1], dtype=np.int32)
                with open(self.folder / suffix / f"{name}.{suffix}", "wb") as file:
                    file.write(with_ends.buffers()[2][int(offsets[start]) : int(offsets[end])])


class Waiting:
    """Events that are not written yet, in the order in which they will be."""

    def __init__(self) -> None:
        self.keys, self.numbers = np.empty(0, np.int64), np.empty(0, np.int64)
        self.kinds, self.rows = np.empty(0, np.int8), np.empty(0, np.int64)
        self.tables = {name: SCHEMAS[name].empty_table() for name in TYPES}

    def add(
        self, numbers: np.ndarray, block: dict[str, tuple[np.ndarray, pa.Table]], keys: np.ndarray, events: int
    ) -> None:
        """A block of events that come at these times, but only those whose number is less than ``events``."""
        kinds, rows = np.empty(BLOCK, np.int8), np.empty(BLOCK, np.int64)
        for kind, name in enumerate(TYPES):
            at, table = block[name]
            kinds[at - numbers[0]] = kind
            rows[at - numbers[0]] = np.arange(len(at)) + len(self.tables[name])
            self.tables[name] = pa.concat_tables([self.tables[name], table])
        keep = numbers < events
        keys, numbers = np.concatenate([self.keys, keys[keep]]), np.concatenate([self.numbers, numbers[keep]])
        order = np.lexsort((numbers, keys))
        self.keys, self.numbers = keys[order], numbers[order]
        self.kinds = np.concatenate([self.kinds, kinds[keep]])[order]
        self.rows = np.concatenate([self.rows, rows[keep]])[order]

    def before(self, key: int) -> int:
        """How many come before a time."""
        return int(np.searchsorted(self.keys, key))

    def between(self, start: int, end: int) -> tuple[np.ndarray, dict[str, pa.Table]]:
        """The kinds of some events, and the events by kind."""
        kinds, rows = self.kinds[start:end], self.rows[start:end]
        names = enumerate(TYPES)
        tables = {n: self.tables[n].take(pa.array(rows[kinds == k])).combine_chunks() for k, n in names}
        return kinds, tables

    def drop(self, count: int) -> None:
        """Forget the first of them."""
        self.keys, self.numbers = self.keys[count:], self.numbers[count:]
        self.kinds, self.rows = self.kinds[count:], self.rows[count:].copy()
        for kind, name in enumerate(TYPES):
            rest = self.kinds == kind
            self.tables[name] = self.tables[name].take(pa.array(self.rows[rest])).combine_chunks()
            self.rows[rest] = np.arange(rest.sum())


def generate(events: int, seed: int, disorder: int, rate: int, out: Path, formats: list[str]) -> Path:
    """Make the folder, unless it is there with these formats; returns it."""
    folder = out / f"{events}-s{seed}-d{disorder}-r{rate}"
    if (folder / "meta.json").exists():
        existing = json.loads((folder / "meta.json").read_text())["formats"]
        if set(formats) <= set(existing):
            return folder
        formats = [*existing, *formats]
    formats = sorted(set(formats))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "side_input.csv").write_text("".join(f"{n},{n}\n" for n in range(SIDE_INPUT_ROWS)))
    per_part = max(events // 200, min(BLOCK, events // 20), 1)
    writer, generator, waiting = Writer(folder, per_part, formats), Generator(seed, rate), Waiting()
    counts = dict.fromkeys(TYPES, 0)
    blocks = -(-events // BLOCK)
    for number in range(blocks):
        numbers, block = generator.block(number)
        keys = generator.times(numbers) + generator.delays(numbers, disorder)
        waiting.add(numbers, block, keys, events)
        last = number == blocks - 1
        ready = len(waiting.keys) if last else waiting.before(BASE + (number + 1) * BLOCK * 1000 // rate)
        start = 0
        while ready - start >= per_part or (last and start < ready):
            kinds, tables = waiting.between(start, min(start + per_part, ready))
            for name, table in tables.items():
                counts[name] += len(table)
            writer.part(kinds, tables)
            start += len(kinds)
        waiting.drop(start)
    facts = {"events": events, "seed": seed, "disorder": disorder, "rate": rate, "base": BASE, "formats": formats}
    (folder / "meta.json").write_text(json.dumps({**facts, "parts": writer.parts, "counts": counts}, indent=1) + "\n")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--disorder", type=int, default=0, help="milliseconds; the queries wait for 4000")
    parser.add_argument("--rate", type=int, default=10_000, help="events per second of event time")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--formats", default="csv,jsonl,parquet")
    args = parser.parse_args()
    print(generate(args.events, args.seed, args.disorder, args.rate, args.out, args.formats.split(",")))


if __name__ == "__main__":
    main()

"""What programs that never end were to reach, and their tables of docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import speed
from results import Key, Results, ratio
from results import Row as Found
from speed import Table, count, megabytes, newest, rate, same_records
from targets import GIB, Row, died, penstock, time, unmeasured
from unbounded import BATCH, KAFKA, OURS, SUMS, TIMERS, UNBOUNDED

LOCAL, STREAMING = "Penstock, local", "Structured Streaming"
TRIGGER, STEP, HELD, WRITTEN, RESUMED = (
    "trigger",
    "step at 10,000 touched keys",
    "keys in memory",
    "bytes written",
    "start of a job that goes on",
)
EXCHANGES, ALIKE, KEYS = "two exchanges, 10 records", "10,000 keys touched", "keyed sum"
MANY, MOST, FEW = 1_000_000, 10_000_000, 10_000
PEERS = (
    *("Spark's aggregation", "transformWithState", "transformWithStateInPandas", LOCAL, STREAMING),
    *("Penstock, at least once", "Bytewax", "Bytewax, every 10 s", "PyFlink"),
)


def rows(results: Results) -> list[Row]:
    """Every target of programs that never end."""
    than = [
        *((SUMS, peer, factor) for peer, factor in SUMMED.items()),
        (KAFKA, "Bytewax", 2.0),
        (TIMERS, "transformWithState", 4.0),
    ]
    beside = [
        speed.less_cpu(results, f"{WHAT[shape]}: ≥ {factor:g}×", factor, peer, penstock(UNBOUNDED, shape, OURS[shape]))
        for shape, peer, factor in than
    ]
    limits = [
        limit(results, "trigger of two exchanges at 10 records: ≤ 150 ms", (TRIGGER, EXCHANGES, 10, "Penstock"), 0.15),
        limit(
            results, "the same on the local executor: ≤ 60 ms", (TRIGGER, EXCHANGES, 10, LOCAL), 0.06
        ),
        limit(results, "start of a job with 1,000,000 keys: ≤ 10 s", (RESUMED, KEYS, MANY, "Penstock"), 10),
        *(
            limit(results, f"restore of 1,000,000 keys at another parallelism, {executor}: ≤ 10 s", key, 10)
            for executor, key in RESTORED.items()
        ),
    ]  # fmt: skip
    return [*beside, throughput(results), *limits, alike(results), held(results), written(results), delayed(results)]


SUMMED = {"Spark's aggregation": 5.0, "transformWithState": 5.0, "Bytewax": 8.0, "PyFlink": 20.0}
WHAT = {
    SUMS: "running sums that never end, 100,000 keys",
    KAFKA: "running sums from Kafka to Kafka, 100,000 keys",
    TIMERS: "a state and a timer per key in Python",
}


RESTORED = {
    executor: ("state", f"restore at another parallelism, {executor}", MANY, "Penstock")
    for executor in ("spark", "local")
}
ALONE, BESIDE = "20 steps", "20 steps beside savepoints"


def delayed(results: Results) -> Row:
    """What savepoints take from the steps of a job."""
    target = "steps of a job with 1,000,000 keys, a savepoint every half second beside them: ≤ 1.1×"
    keys = [("savepoint", shape, MANY, "Penstock") for shape in (BESIDE, ALONE)]
    run = results.together(*keys)
    beside, alone = (run.find(*key) for key in keys)
    if not beside.get("median") or not alone.get("median"):
        return unmeasured(results, target, *keys)
    times = ratio(beside, alone)
    measured = f"{times:.3g}× ({time(beside['median'])} : {time(alone['median'])})"
    return Row(target, measured, times <= 1.1, run=run.started)


def throughput(results: Results) -> Row:
    """Records per CPU-second from topic to topic."""
    target = f"{WHAT[KAFKA]}: ≥ 150,000 records per CPU-second"
    key = penstock(UNBOUNDED, KAFKA, OURS[KAFKA])
    run = results.together(key)
    row = run.find(*key)
    if not row.get("median"):
        return unmeasured(results, target, key)
    per_second = key[2] / row["median"]
    return Row(target, count(per_second), per_second >= 150_000, row["checksum_equal"], run.started)


def limit(results: Results, target: str, key: Key, most: float) -> Row:
    """A time that is not to be exceeded."""
    run = results.together(key)
    row = run.find(*key)
    if not row.get("median"):
        return unmeasured(results, target, key)
    return Row(target, time(row["median"]), row["median"] <= most, row.get("checksum_equal"), run.started)


def alike(results: Results) -> Row:
    """A step that touches as many keys of many more."""
    target = "step of 1,000,000 keys a subtask, 1 % of them touched: ≤ 1.5× that of 10,000 keys, all touched"
    keys = [(STEP, ALIKE, size, "Penstock") for size in (MANY, FEW)]
    run = results.together(*keys)
    if not run.rows:
        return unmeasured(results, target, *keys)
    many, few = (run.find(*key) for key in keys)
    if not many.get("median") or not few.get("median"):
        return Row(target, died(many) or died(few), None, run=run.started)
    times = ratio(many, few)
    measured = f"{times:.3g}× ({time(many['median'])} : {time(few['median'])})"
    return Row(target, measured, times <= 1.5, run=run.started)


def held(results: Results) -> Row:
    """Many keys on a small executor."""
    target = "10,000,000 keys in 1 GiB of a worker's memory"
    key = (HELD, KEYS, MOST, "Penstock")
    run = results.together(key, fact="peak_bytes")
    row = run.find(*key)
    if not row.get("peak_bytes"):
        return unmeasured(results, target, key)
    return Row(target, megabytes(row["peak_bytes"]), row["peak_bytes"] <= GIB, run=run.started)


def written(results: Results) -> Row:
    """What a step writes for a key that it changed."""
    target = "bytes written per touched key: ≤ 3× its size as bytes"
    key = (WRITTEN, KEYS, FEW, "Penstock")
    run = results.together(key, fact="bytes")
    row = run.find(*key)
    if not row.get("bytes"):
        return unmeasured(results, target, key)
    times = row["bytes"] / row["serialised"]
    sizes = " : ".join(f"{row[fact] / FEW:.3g} B" for fact in ("bytes", "serialised"))
    return Row(target, f"{times:.3g} times ({sizes})", times <= 3, run=run.started)


# --- tables -----------------------------------------------------------------------------------------------------------


def unbounded(results: Results) -> Table:
    """A line per program and peer, the quickest first."""
    head = ("program, by", "records of a round", "records per CPU-s", "wall", "largest worker", "results")
    return head, [line(shape, peer, row) for shape in (SUMS, KAFKA, TIMERS) for peer, row in quickest(results, shape)]


def quickest(results: Results, shape: str) -> list[tuple[str, Found]]:
    """Who ran a program, and how."""
    peers = {key[3] for key in results.rows if key[:2] == (UNBOUNDED, shape)}
    measured = [(peer, newest(results, UNBOUNDED, shape, peer)) for peer in sorted(peers)]
    return sorted((pair for pair in measured if pair[1].get("median")), key=lambda pair: -rate(pair[1]))


def line(shape: str, peer: str, row: Found) -> tuple[str, ...]:
    return (
        f"{shape}: {peer}",
        f"{row['size']:,}",
        count(rate(row)),
        time(row["wall_median"]),
        megabytes(row.get("worker_bytes")),
        same_records(row),
    )


def run_of(results: Results) -> str:
    """Of which run these tables are."""
    run = results.shown.get(("unbounded",))
    return f"`unbounded`: run of {run.started}; batches of {BATCH:,} records." if run else "Not measured yet."


TABLES: Mapping[str, Callable[[Results], Table | str]] = {
    "unbounded": unbounded,
    "unbounded_run": run_of,
}
"""By the name that docs/performance.md calls them."""

"""What running programs was to reach, and the tables of docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engines import FLINK
from programs import FINAL, FIRST, FIVE, MAPS, RECORDS, RUNNING, START, SUMS, WARM, WINDOWS, WORDS
from results import Figures, Key, Results, Run, ratio
from results import Row as Found
from steps import peers
from targets import APART, Row, died, penstock, time, unmeasured

CHAIN = (MAPS, FIVE)
SIZE = 5_000_000


def rows(results: Results) -> list[Row]:
    """Every target of running programs."""
    words = f"word count with running sums, {SIZE:,} words:"
    than = [("RDD", 8.0), ("mapInArrow", 1.1), ("PyFlink", 20.0), ("Bytewax", 9.0), (FLINK, 2.5)]
    counted = [less_cpu(results, f"{words} ≥ {factor:g}×", factor, peer) for peer, factor in than]
    counted.append(less_cpu(results, f"{words} ≥ 1×", 1, "Spark SQL", shape=FINAL))
    quick = records_per_second(results, words, 3e6, penstock(WORDS, RUNNING, SIZE))
    return [quick, *counted, by_hand(results), *sums_of_columns(results)]


def sums_of_columns(results: Results) -> list[Row]:
    """Sums by key out of Parquet, on both executors."""
    what = f"{RECORDS:,} records of Parquet, 100,000 keys"
    table_rows = []
    for peer, place in (("Penstock", "on Spark"), ("Penstock, local", "in one process")):
        ours = (SUMS, RUNNING, RECORDS, peer)
        table_rows.append(records_per_second(results, f"running sums by key, {what}, {place}:", 10e6, ours))
        windows = f"sums in tumbling windows, {what}, {place}: ≥ 1×"
        table_rows.append(less_cpu(results, windows, 1, "Spark SQL", (SUMS, WINDOWS, RECORDS, peer)))
    return table_rows


def records_per_second(results: Results, target: str, least: float, ours: Key) -> Row:
    """So many records per CPU-second, whatever others need."""
    run = results.together(ours)
    mine, target = run.find(*ours), f"{target} ≥ {count(least)} records per CPU-second"
    if not mine.get("median"):
        return unmeasured(results, target, ours)
    number = ours[2] / mine["median"]
    return Row(target, count(number), number >= least, mine["checksum_equal"], run.started)


def less_cpu(
    results: Results, target: str, factor: float, peer: str, ours: Key | None = None, shape: str | None = None
) -> Row:
    """Records per CPU-second of ours, which is the word count if nothing is said, over those of a peer, which may have
    had fewer records, and another shape."""
    ours = ours or penstock(WORDS, RUNNING, SIZE)
    run, other = beside(results, ours, peer, shape)
    mine, theirs = run.find(*ours), run.find(*other)
    target = f"{target} records per CPU-second of {NAMES.get(peer, peer)}"
    if not run.rows:
        return unmeasured(results, target, ours, other)
    if not mine.get("median") or not theirs.get("median"):
        return Row(target, died(theirs), None, run=run.started)
    times = ratio(theirs, mine) * ours[2] / other[2]
    rates = " : ".join(count(key[2] / run.find(*key)["median"]) for key in (ours, other))
    equal = theirs["checksum_equal"] and mine["checksum_equal"]
    return Row(target, f"{times:.3g}× ({rates})", times >= factor, equal, run.started)


def beside(results: Results, ours: Key, peer: str, shape: str | None = None) -> tuple[Run, Key]:
    """The last run that has a row of ours and one of a peer, of the same shape or another, and the peer's: its largest
    workload there."""
    phase, shape = ours[0], shape or ours[1]
    sizes = {key[2] for run in results.runs for key in run.rows if (*key[:2], key[3]) == (phase, shape, peer)}
    keys: list[Key] = [(phase, shape, size, peer) for size in sorted(sizes, reverse=True)]
    candidates = [(results.together(ours, key), key) for key in keys]
    return max(candidates, key=lambda candidate: candidate[0].id, default=(Run(), (phase, shape, 0, peer)))


def by_hand(results: Results) -> Row:
    """The chain beside the same functions as a pipeline of generators."""
    target = f"a chain of 5 maps and a filter, {SIZE:,} numbers: within 5 % of generators by hand in `mapInArrow`"
    keys = penstock(*CHAIN, SIZE), (*CHAIN, SIZE, BY_HAND)
    run = results.together(*keys)
    if not run.rows:
        return unmeasured(results, target, *keys)
    ours, theirs = (run.find(*key) for key in keys)
    equal = ours["checksum_equal"] and theirs["checksum_equal"]
    more = ratio(ours, theirs) - 1
    measured = f"{100 * more:+.1f} % ({time(ours['median'])} : {time(theirs['median'])})"
    return Row(target, measured, more <= 0.05, equal, run.started)


NAMES = {
    "Penstock": "Penstock",
    "RDD": "`partitionBy` with running sums on RDDs",
    "mapInArrow": "the best `mapInArrow` by hand",
    "PyFlink": "PyFlink in process mode",
    "Bytewax": "Bytewax's `stateful_map`",
    FLINK: "Flink 2.3's own Java",
    "Spark SQL": "Spark SQL",
}


def newest(results: Figures, phase: str, shape: str, peer: str) -> Found:
    """The row of the largest size; with the size in it."""
    rows = [(key[2], row) for key, row in results.rows.items() if (*key[:2], key[3]) == (phase, shape, peer)]
    return {"size": max(rows)[0], **max(rows, key=lambda pair: pair[0])[1]} if rows else {}


def rate(row: Found) -> float:
    """Records per CPU-second."""
    return row["size"] / row["median"]


def count(number: float) -> str:
    """Three digits of a large number."""
    return f"{float(f'{number:.3g}'):,.0f}"


BY_HAND = "generators in mapInArrow"
CHAINS = ("Penstock", BY_HAND, "map and filter in mapInArrow", "Penstock, unchained", "Python loop")
COUNTERS = (
    *("RDD", "mapInArrow", FLINK, "Bytewax", "Bytewax, 2 workers", "PyFlink", "PyFlink, defaults"),
    *("RDD reduceByKey", "Spark SQL"),
)
FORMS, WAYS, CODECS = (
    ("fused", "listed"),
    ("record by record", "by the batch"),
    ("pickle", "columns", "columns in Python"),
)
NATIVE = ("with native functions", "without them")
STARTERS = ("Penstock, prepared", "mapInArrow in Penstock's session", "mapInArrow in a plain session")
PEERS = (*COUNTERS, *CHAINS[1:], *STARTERS, *FORMS, *WAYS, *CODECS, *NATIVE)
"""Everybody but Penstock itself."""

# --- tables -----------------------------------------------------------------------------------------------------------

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


def word_count(results: Results) -> Table:
    """Word count: a line per peer."""
    head = ("word count by", "words", "words per CPU-s", "wall", "largest worker", "records")
    return head, [words_line(results, shape, peer) for shape, peer in word_counters(results)]


def word_counters(results: Results) -> list[tuple[str, str]]:
    """Shapes and peers, running sums first, the quickest first; plain loops last."""
    counters = {(key[1], key[3]) for key in results.rows if key[0] == WORDS}
    order = lambda pair: (pair[0] != RUNNING, pair[1] == "Python loop", -rate(newest(results, WORDS, *pair)))  # noqa: E731
    return sorted((pair for pair in sorted(counters) if newest(results, WORDS, *pair).get("median")), key=order)


def words_line(results: Results, shape: str, peer: str) -> tuple[str, ...]:
    row = newest(results, WORDS, shape, peer)
    return (
        peer if shape == RUNNING else f"{peer} (final counts only)",
        f"{row['size']:,}",
        count(rate(row)),
        time(row["wall_median"]),
        megabytes(row.get("worker_bytes")),
        same_records(row),
    )


def same_records(row: Found) -> str:
    return "equal" if row["checksum_equal"] else "**different**"


def megabytes(size: int | None) -> str:
    return f"{size / 2**20:.0f} MiB" if size else ""


def chains(results: Results) -> Table:
    """Five maps and a filter."""
    head = ("5 maps and a filter", "numbers", "ns per number, CPU", "of it JVM", "wall", "records")
    lines = []
    for peer in CHAINS:
        row = newest(results, *CHAIN, peer)
        if row.get("median"):
            cpu, jvm = (nanoseconds(row[fact], row["size"]) for fact in ("median", "jvm_seconds"))
            lines.append((peer, f"{row['size']:,}", cpu, jvm, time(row["wall_median"]), same_records(row)))
    return head, lines


def chaining_buys(results: Results) -> str:
    """In a sentence."""
    saved = chaining_saves(results)
    if saved is None:
        return APART + "."
    return f"Chaining saves {saved:,.0f} ns per record for each of the 7 exchanges that it takes away."


def chaining_saves(results: Results) -> float | None:
    """Nanoseconds per record and exchange."""
    ours = penstock(*CHAIN, SIZE)
    run, other = beside(results, ours, "Penstock, unchained")
    if not run.rows:
        return None
    chained, unchained = (run.find(*key)["median"] / key[2] for key in (ours, other))
    return (unchained - chained) / 7 * 1e9


def nanoseconds(seconds: float, records: int) -> str:
    return f"{seconds / records * 1e9:,.0f}"


def starts(results: Results) -> Table:
    """From the start of a process, and from the call in a session that runs, to the first record."""
    head = ("a small word count by", "cold: first record", "whole job", "CPU")
    head += ("warm: first record", "whole job", "CPU")
    return head, [start_line(results, peer) for peer in ("Penstock", *STARTERS)]


def start_line(results: Results, peer: str) -> tuple[str, ...]:
    cold, warm = (newest(results, phase, FIRST, peer) for phase in (START, WARM))
    cells = []
    for row in (cold, warm):
        times = [row.get(fact) for fact in ("first_record", "wall_median", "median")]
        cells += ["" if seconds is None else time(seconds) for seconds in times]
    return (peer, *cells)


def runs(results: Results) -> str:
    """Of which run each step's figures on this page are."""
    steps = ("word_count", "engines", "chain", "start")
    names_by_run: dict[str, list[str]] = {}
    for step in steps:
        run = results.shown.get(peers(step))
        if run:
            names_by_run.setdefault(run.started, []).append(f"`{step}`")
    return " ".join(f"{', '.join(names)}: run of {started}." for started, names in names_by_run.items())


TABLES: Mapping[str, Callable[[Results], Table | str]] = {
    "word_count": word_count,
    "chains": chains,
    "chaining_buys": chaining_buys,
    "starts": starts,
    "runs": runs,
}
"""By the name that docs/performance.md calls them."""

"""What running programs was to reach, and the tables of docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from programs import FIRST, FIVE, MAPS, RUNNING, START, WARM, WORDS
from results import Results
from targets import Row, died, time

Found = Mapping[str, Any]
CHAIN = (MAPS, FIVE)


def rows(results: Results) -> list[Row]:
    """Every target of running programs."""
    words = "word count with running sums, 5,000,000 words:"
    than = [("RDD", 4.0), ("mapInArrow", 1.1), ("PyFlink", 20.0), ("Bytewax", 3.0)]
    return [*(less_cpu(results, f"{words} ≥ {factor:g}×", factor, peer) for peer, factor in than), by_hand(results)]


def less_cpu(results: Results, target: str, factor: float, peer: str) -> Row:
    """Records per CPU-second of ours over those of a peer, which may have counted fewer words."""
    ours, theirs = (newest(results, WORDS, RUNNING, name) for name in ("Penstock", peer))
    target = f"{target} records per CPU-second of {NAMES[peer]}"
    equal = theirs.get("checksum_equal") and ours.get("checksum_equal") if ours and theirs else None
    if not ours.get("median") or not theirs.get("median"):
        return Row(target, died(theirs), None, equal)
    mine, other = rate(ours), rate(theirs)
    measured = f"{mine / other:.3g}× ({count(mine)} : {count(other)})"
    return Row(target, measured, mine / other >= factor, equal)


def by_hand(results: Results) -> Row:
    """The chain beside the same functions as a pipeline of generators."""
    target = "a chain of 5 maps and a filter, 5,000,000 numbers: within 5 % of generators by hand in `mapInArrow`"
    ours, theirs = (newest(results, *CHAIN, name) for name in ("Penstock", BY_HAND))
    if not ours.get("median") or not theirs.get("median"):
        return Row(target, "", None)
    equal = ours["checksum_equal"] and theirs["checksum_equal"]
    more = ours["median"] / theirs["median"] - 1
    measured = f"{100 * more:+.1f} % ({time(ours['median'])} : {time(theirs['median'])})"
    return Row(target, measured, more <= 0.05, equal)


NAMES = {
    "Penstock": "Penstock",
    "RDD": "`partitionBy` with running sums on RDDs",
    "mapInArrow": "the best `mapInArrow` by hand",
    "PyFlink": "PyFlink in process mode",
    "Bytewax": "Bytewax's `stateful_map`",
}


def newest(results: Results, phase: str, shape: str, peer: str) -> Found:
    """The row of the largest size; with the size in it."""
    found = [(key[2], row) for key, row in results.rows.items() if (*key[:2], key[3]) == (phase, shape, peer)]
    return {"size": max(found)[0], **max(found, key=lambda each: each[0])[1]} if found else {}


def rate(row: Found) -> float:
    """Records per CPU-second."""
    return row["size"] / row["median"]


def count(number: float) -> str:
    """Three digits of a large number."""
    return f"{float(f'{number:.3g}'):,.0f}"


BY_HAND = "generators in mapInArrow"
CHAINS = ("Penstock", BY_HAND, "map and filter in mapInArrow", "Penstock, unchained", "Python loop")
COUNTERS = (
    *("RDD", "mapInArrow", "Bytewax", "Bytewax, 2 workers", "PyFlink", "PyFlink, defaults"),
    *("RDD reduceByKey", "Spark SQL"),
)
FORMS, WAYS, CODECS = (
    ("fused", "listed"),
    ("record by record", "by the batch"),
    ("pickle", "columns", "columns in Python"),
)
STARTERS = ("Penstock, prepared", "mapInArrow in Penstock's session", "mapInArrow in a plain session")
PEERS = (*COUNTERS, *CHAINS[1:], *STARTERS, *FORMS, *WAYS, *CODECS)
"""Everybody but Penstock itself."""

# --- tables -----------------------------------------------------------------------------------------------------------

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


def word_count(results: Results) -> Table:
    """Word count: a line per peer."""
    head = ("word count by", "words", "words per CPU-s", "CPU-s", "of it JVM", "wall", "largest worker")
    head += ("shuffle per word", "records")
    return head, [words_line(results, shape, peer) for shape, peer in word_counters(results)]


def word_counters(results: Results) -> list[tuple[str, str]]:
    """Shapes and peers, running sums first, the quickest first; plain loops last."""
    found = {(key[1], key[3]) for key in results.rows if key[0] == WORDS}
    order = lambda each: (each[0] != RUNNING, each[1] == "Python loop", -rate(newest(results, WORDS, *each)))  # noqa: E731
    return sorted((each for each in found if newest(results, WORDS, *each).get("median")), key=order)


def words_line(results: Results, shape: str, peer: str) -> tuple[str, ...]:
    row = newest(results, WORDS, shape, peer)
    per_word = row.get("shuffle_bytes", 0) / row["size"]
    return (
        peer if shape == RUNNING else f"{peer} (final counts only)",
        f"{row['size']:,}",
        count(rate(row)),
        f"{row['median']:.3g}",
        f"{row['jvm_seconds']:.3g}",
        time(row["wall_median"]),
        megabytes(row.get("worker_bytes")),
        f"{per_word:.1f} B" if per_word else "",
        same_records(row),
    )


def same_records(row: Found) -> str:
    return "equal" if row["checksum_equal"] else "**different**"


def megabytes(size: int | None) -> str:
    return f"{size / 2**20:.0f} MiB" if size else ""


def with_start(results: Results) -> Table:
    """The same with the start of a process in it: what somebody pays who runs one job and goes home."""
    head = ("word count by", "start and first 200 words", "of it CPU", "words per CPU-s with the start")
    lines = []
    for shape, peer in word_counters(results):
        row, start = newest(results, WORDS, shape, peer), newest(results, START, shape, peer)
        if start.get("median"):
            whole = row["size"] / (row["median"] + start["median"])
            lines.append((peer, time(start["wall_median"]), f"{start['median']:.3g} s", count(whole)))
    return head, lines


def chains(results: Results) -> Table:
    """Five maps and a filter."""
    head = ("5 maps and a filter", "numbers", "ns per number, CPU", "of it JVM", "wall", "records")
    lines = []
    for peer in CHAINS:
        row = newest(results, *CHAIN, peer)
        if row.get("median"):
            own, jvm = (nanoseconds(row[fact], row["size"]) for fact in ("median", "jvm_seconds"))
            lines.append((peer, f"{row['size']:,}", own, jvm, time(row["wall_median"]), same_records(row)))
    return head, lines


def chaining_buys(results: Results) -> str:
    """In a sentence."""
    chained, unchained = (newest(results, *CHAIN, peer) for peer in ("Penstock", "Penstock, unchained"))
    if not chained.get("median") or not unchained.get("median"):
        return ""
    saved = unchained["median"] / unchained["size"] - chained["median"] / chained["size"]
    return f"Chaining saves {saved / 7 * 1e9:,.0f} ns per record for each of the 7 exchanges that it takes away."


def outputs(results: Results) -> Table:
    """Nanoseconds per record of every kind of output, in both forms."""
    return matrix(results, "outputs", "output, ns per record", FORMS)


def selectors(results: Results) -> Table:
    """Nanoseconds per record of every channel selector."""
    return matrix(results, "selectors", "channel selector, ns per record", WAYS)


def codecs(results: Results) -> Table:
    """Nanoseconds and bytes per record of every codec."""
    head = ("2,000 records of", *(f"{peer}: {what}" for peer in CODECS for what in ("write", "read", "bytes")))
    shapes = list(dict.fromkeys(key[1] for key in results.rows if key[0] == "encode"))
    lines = []
    for shape in shapes:
        cells = [cell for peer in CODECS for cell in codec_cells(results, shape, peer)]
        lines.append((shape, *cells))
    return head, lines


def codec_cells(results: Results, shape: str, peer: str) -> tuple[str, str, str]:
    there, back = (newest(results, phase, shape, peer) for phase in ("encode", "decode"))
    if not there or not back:
        return "", "", ""
    size = f"{there['bytes'] / there['size']:.1f}"
    return nanoseconds(there["median"], there["size"]), nanoseconds(back["median"], back["size"]), size


def matrix(results: Results, phase: str, title: str, peers: Iterable[str]) -> Table:
    """Shapes down, peers across."""
    shapes = list(dict.fromkeys(key[1] for key in results.rows if key[0] == phase))
    lines = []
    for shape in shapes:
        found = [newest(results, phase, shape, peer) for peer in peers]
        lines.append((shape, *(nanoseconds(row.get("median"), row.get("size", 1)) for row in found)))
    return (title, *peers), lines


def nanoseconds(seconds: float | None, records: int) -> str:
    return "" if seconds is None else f"{seconds / records * 1e9:,.0f}"


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


TABLES: Mapping[str, Callable[[Results], Table | str]] = {
    "word_count": word_count,
    "with_start": with_start,
    "chains": chains,
    "chaining_buys": chaining_buys,
    "outputs": outputs,
    "selectors": selectors,
    "codecs": codecs,
    "starts": starts,
}
"""By the name that docs/performance.md calls them."""

"""What Penstock set out to reach, each as one row: the target, what was measured, met or missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from results import Results

FLINKS = ("Flink 1.11.4", "Flink 2.3.0")
PROFILED = "Penstock (2.3)"  # planning as Flink 2.3 does
GIB = 2**30

Ours = tuple[str, str, int]  # phase, shape, size


@dataclass(frozen=True)
class Row:
    """A target.

    Attributes:
        target: what was to be reached.
        measured: what was, in words.
        met: ``None`` when it was not measured in this run.
        equal: whether the checksums of both sides are the same; ``None`` where there is nothing to compare.
    """

    target: str
    measured: str
    met: bool | None
    equal: bool | None = None

    @property
    def verdict(self) -> str:
        """In a word; a wrong result meets nothing."""
        if self.equal is False:
            return "**wrong result**"
        return {True: "met", False: "**missed**", None: "not measured"}[self.met]


def rows(results: Results) -> list[Row]:
    """Every target, in the order of planning."""
    return [row for make in MAKERS for row in make(results)]


def faster(results: Results, target: str, factor: float, ours: Ours, peer: str, theirs: str = "") -> Row:
    """Penstock against a peer on the same graph; ``theirs`` is the peer's phase if it has another name."""
    phase, shape, size = ours
    other = results.find(theirs or phase, shape, size, peer)
    mine, equal = own(results, ours, peer), other.get("checksum_equal")
    if mine is None or other.get("median") is None:
        return Row(target, died(other), None, equal)
    ratio = other["median"] / mine
    return Row(target, f"{ratio:,.0f}× ({time(other['median'])} : {time(mine)})", ratio >= factor, equal)


def own(results: Results, ours: Ours, peer: str) -> float | None:
    """Penstock's time, with the profile of the Flink it is compared with where that was measured by itself."""
    profiled = results.seconds(*ours, PROFILED) if peer == FLINKS[1] else None
    return profiled or results.seconds(*ours)


def died(row: object) -> str:
    """Why a peer has no time."""
    reason = dict(row).get("died") if isinstance(row, dict) else None
    return f"the peer died: {reason}" if reason else ""


def below(target: str, seconds: float | None, limit: float) -> Row:
    """A time against a limit."""
    return Row(target, time(seconds), seconds < limit) if seconds else Row(target, "", None)


def time(seconds: float) -> str:
    """A duration in the unit that reads best."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def hashing(results: Results) -> list[Row]:
    ours = ("hash", "layered_dag", 1_000_000)
    target = "operator IDs, layered DAG of 1,000,000: ≥ 10× faster than"
    return [faster(results, f"{target} {peer}", 10, ours, peer) for peer in FLINKS]


def hashing_uids(results: Results) -> list[Row]:
    target = "operator IDs with a uid on every operator: linear"
    flinks = [results.seconds("hash", "uid_table", 100_000, peer) for peer in FLINKS]
    told = [f"{peer} at 100,000: {time(second)}" for peer, second in zip(FLINKS, flinks, strict=True) if second]
    return [growth(results, target, "hash", "uid_table", told)]


def growth(results: Results, target: str, phase: str, shape: str, told: list[str]) -> Row:
    """Ten times the operators may take 20 times as long: caches end between the two; a quadratic step takes 100."""
    small, large = (results.seconds(phase, shape, size) for size in (100_000, 1_000_000))
    if small is None or large is None:
        return Row(target, "", None)
    measured = f"100,000: {time(small)}, 1,000,000: {time(large)}, {large / small:.1f}×"
    return Row(target, "; ".join([measured, *told]), large / small < 20)


def job_graph(results: Results) -> list[Row]:
    made = []
    for size, peers in ((100_000, FLINKS), (1_000_000, FLINKS[:1])):  # 2.3 needs more than 16 GB for a million
        ours = ("job graph", "layered_dag", size)
        for peer in peers:
            whole = f"JobGraph, layered DAG of {size:,}: ≥ 100× less time than {peer}"
            rest = whole.replace("100×", "40×") + " without its config serialisation"
            made += [faster(results, whole, 100, ours, peer), without_serialisation(results, rest, ours, peer)]
    return made


def without_serialisation(results: Results, target: str, ours: Ours, peer: str) -> Row:
    whole, spent = (results.seconds(phase, *ours[1:], peer) for phase in ("job graph", "config serialisation"))
    mine = own(results, ours, peer)
    if whole is None or spent is None or mine is None:
        return Row(target, died(results.find(*ours, peer)), None)
    rest = whole - spent
    equal = results.find(*ours, peer).get("checksum_equal")
    return Row(target, f"{rest / mine:,.0f}× ({time(rest)} : {time(mine)})", rest / mine >= 40, equal)


def long_chain(results: Results) -> list[Row]:
    mine = results.seconds("job graph", "forward_chain", 1_000_000)
    flinks = [results.find("job graph", "forward_chain", 100_000, peer) for peer in FLINKS]
    told = [f"{peer} at 100,000: {row['died']}" for peer, row in zip(FLINKS, flinks, strict=True) if row.get("died")]
    measured = "; ".join([f"JobGraph in {time(mine)}", *told]) if mine else ""
    return [Row("a chain of 1,000,000 operators works", measured, True if mine else None)]


def huge(results: Results) -> list[Row]:
    size = 10_000_000
    hashed, *floors = (
        results.seconds(phase, "layered_dag", size, "Rust") for phase in ("hash", "bare traversal", "bare murmur3")
    )
    target = "10,000,000 operators, 20,000,000 edges: operator IDs ≤ 1.5× a bare traversal and bare murmur3"
    made = Row(target, "", None)
    if hashed and all(floors):
        floor = sum(floor for floor in floors if floor)
        made = Row(target, f"{hashed / floor:.2f}× ({time(hashed)} : {time(floor)})", hashed / floor <= 1.5)
    peak = results.find("job graph", "layered_dag", size).get("peak_bytes")
    target = "the same graph: whole JobGraph under 10 GiB"
    return [made, Row(target, f"{peak / GIB:.2f} GiB at peak", peak < 10 * GIB) if peak else Row(target, "", None)]


def yielding(results: Results) -> list[Row]:
    made = []
    for shape in ("yielding_diamonds", "yielding_chain"):
        told = []
        for peer in FLINKS:
            sizes = results.sizes("hash", shape, peer)
            if sizes:
                told.append(f"{peer}, IDs: " + ", ".join(f"{size} operators {time(second)}" for size, second in sizes))
        words = {"yielding_diamonds": "diamonds of yielding operators", "yielding_chain": "yielding operators in a row"}
        made.append(growth(results, f"JobGraph of {words[shape]}: linear", "job graph", shape, told))
    return made


def fan_out(results: Results) -> list[Row]:
    wide, edges = 8_000, "execution edges"
    grouped = results.seconds("execution graph", "all_to_all", wide)
    table = results.seconds(edges, "all_to_all", wide)
    fill = results.seconds(edges, "all_to_all", wide, "NumPy")
    ours, target = (edges, "all_to_all", wide), f"the same {wide**2:,} edges as Arrow columns:"
    made = [
        below(f"all-to-all {wide:,} × {wide:,} as groups: under 1 ms", grouped, 1e-3),
        faster(results, f"{target} ≥ 10× faster than {FLINKS[0]} connects", 10, ours, FLINKS[0], "connect"),
    ]
    target += " within 2× of NumPy filling the same bytes"
    met = table / fill <= 2 if table and fill else None
    unfolded = results.seconds("execution edges, unfolded", "all_to_all", wide)
    told = f"; what repeats is written once, {time(unfolded)} with every column copied out" if unfolded else ""
    measured = f"{table / fill:.2f}× ({time(table)} : {time(fill)}){told}" if table and fill else ""
    made.append(Row(target, measured, met))
    walk = results.find("execution edges, in chunks", "all_to_all", 20_000)
    measured = f"{time(walk['median'])}, memory grows by {walk['peak_bytes'] / 2**20:.1f} MiB" if walk else ""
    met = walk["peak_bytes"] < 100e6 if walk else None
    return [*made, Row("20,000 × 20,000 edges iterated in bounded memory", measured, met)]


def scheduling(results: Results) -> list[Row]:
    made = []
    for phase in ("regions to restart", "partition release"):
        for shape in ("scheduler_streaming", "scheduler_batch"):
            kind = shape.removeprefix("scheduler_")
            target = f"{phase}, Flink's {kind} scheduler benchmark at parallelism 4,000: ≥ 5× faster than {FLINKS[1]}"
            row = faster(results, target, 5, (phase, shape, 4_000), FLINKS[1])
            alone = own(results, (f"{phase}, a call per subtask", shape, 4_000), FLINKS[1])
            told = f"; {time(alone)} with a Python call per subtask" if alone else ""
            made.append(replace(row, measured=row.measured + told))
    return made


def python(results: Results) -> list[Row]:
    imported = next((row["median"] for key, row in results.rows.items() if key[0] == "import penstock"), None)
    planned = results.seconds("plan a program", "program", 100)
    written, whole = (
        results.seconds(f"write a program{more}", "program", 100_000) for more in ("", ", with its StreamGraph")
    )
    target = "building a program of 100,000 operators through the DataStream API"
    return [
        below("`import penstock`, without pyspark, pyarrow, numpy: under 150 ms", imported, 0.15),
        below("planning a program of 100 operators from Python: under 5 ms", planned, 0.005),
        below(f"{target}: under 1 s", written, 1),
        below(f"{target}, and its StreamGraph: under 1 s", whole, 1),
    ]


Maker = Callable[[Results], list[Row]]
MAKERS: tuple[Maker, ...] = (
    hashing,
    hashing_uids,
    job_graph,
    long_chain,
    huge,
    yielding,
    fan_out,
    scheduling,
    python,
)

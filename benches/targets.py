"""What Penstock set out to reach, each as one row: the target, what was measured, met or missed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from results import Key, Results, Run, ratio
from results import Row as Found

FLINKS = ("Flink 1.11.4", "Flink 2.3.0")
PROFILED = "Penstock (2.3)"  # planning as Flink 2.3 does
GIB = 2**30
APART = "not measured in one run yet"

Ours = tuple[str, str, int]  # phase, shape, size


@dataclass(frozen=True)
class Row:
    """A target.

    Attributes:
        target: what was to be reached.
        measured: what was, in words.
        met: ``None`` when it was not measured in this run.
        equal: whether the checksums of both sides are the same; ``None`` where there is nothing to compare.
        run: when the one run started that all of it is from.
    """

    target: str
    measured: str
    met: bool | None
    equal: bool | None = None
    run: str = ""

    @property
    def verdict(self) -> str:
        """In a word; a wrong result meets nothing."""
        if self.equal is False:
            return "**wrong result**"
        return {True: "met", False: "**missed**", None: "not measured"}[self.met]


def rows(results: Results) -> list[Row]:
    """Every target, in the order of planning."""
    return [row for make in MAKERS for row in make(results)]


def penstock(phase: str, shape: str, size: int) -> Key:
    """Penstock's row."""
    return phase, shape, size, "Penstock"


def unmeasured(results: Results, target: str, *keys: Key) -> Row:
    """A target that no run has all figures for."""
    return Row(target, APART if results.apart(*keys) else "", None)


def faster(results: Results, target: str, factor: float, ours: Ours, peer: str, theirs: str = "") -> Row:
    """Penstock against a peer on the same graph; ``theirs`` is the peer's phase if it has another name."""
    phase, shape, size = ours
    keys = penstock(*ours), (theirs or phase, shape, size, peer)
    run = results.together(*keys)
    other, mine = run.find(*keys[1]), our_row(run, ours, peer)
    if not run.rows:
        return unmeasured(results, target, *keys)
    if not other.get("median") or not mine.get("median"):
        return Row(target, died(other), None, other.get("checksum_equal"), run.started)
    times = ratio(other, mine)
    measured = f"{times:,.0f}× ({time(other['median'])} : {time(mine['median'])})"
    return Row(target, measured, times >= factor, other.get("checksum_equal"), run.started)


def our_row(run: Run, ours: Ours, peer: str) -> Found:
    """Penstock's row, with the profile of the Flink it is compared with where that was measured by itself."""
    return (run.find(*ours, PROFILED) if peer == FLINKS[1] else {}) or run.find(*ours)


def died(row: Found) -> str:
    """Why a peer has no time."""
    return f"the peer died: {row['died']}" if row.get("died") else ""


def below(results: Results, target: str, key: Key, limit: float) -> Row:
    """A time against a limit."""
    run = results.together(key)
    seconds = run.seconds(*key)
    return Row(target, time(seconds), seconds < limit, run=run.started) if seconds else Row(target, "", None)


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
    beside = {("hash", "uid_table", 100_000, peer): f"{peer} at 100,000:" for peer in FLINKS}
    return [growth(results, target, "hash", "uid_table", beside)]


def growth(results: Results, target: str, phase: str, shape: str, beside: Mapping[Key, str]) -> Row:
    """Ten times the operators may take 20 times as long: caches end between the two; a quadratic step takes 100."""
    keys = [penstock(phase, shape, size) for size in (100_000, 1_000_000)]
    run = results.together(*keys, beside=beside)
    small, large = (run.find(*key) for key in keys)
    if not small or not large:
        return unmeasured(results, target, *keys)
    times = ratio(large, small)
    notes = [f"{words} {time(second)}" for key, words in beside.items() if (second := run.seconds(*key))]
    measured = f"100,000: {time(small['median'])}, 1,000,000: {time(large['median'])}, {times:.1f}×"
    return Row(target, "; ".join([measured, *notes]), times < 20, run=run.started)


def job_graph(results: Results) -> list[Row]:
    table_rows = []
    for size, peers in ((100_000, FLINKS), (1_000_000, FLINKS[:1])):  # 2.3 needs more than 16 GB for a million
        ours = ("job graph", "layered_dag", size)
        for peer in peers:
            whole = f"JobGraph, layered DAG of {size:,}: ≥ 100× less time than {peer}"
            rest = whole.replace("100×", "40×") + " without its config serialisation"
            table_rows += [faster(results, whole, 100, ours, peer), without_serialisation(results, rest, ours, peer)]
    return table_rows


def without_serialisation(results: Results, target: str, ours: Ours, peer: str) -> Row:
    keys = penstock(*ours), (*ours, peer)
    run = results.together(*keys)
    whole, spent = run.find(*keys[1]), run.seconds("config serialisation", *ours[1:], peer)
    mine = our_row(run, ours, peer)
    if not run.rows:
        return unmeasured(results, target, *keys)
    if not whole.get("median") or spent is None or not mine.get("median"):
        return Row(target, died(whole), None, run=run.started)
    rest = whole["median"] - spent
    times = rest / mine["median"]
    measured = f"{times:,.0f}× ({time(rest)} : {time(mine['median'])})"
    return Row(target, measured, times >= 40, whole.get("checksum_equal"), run.started)


def long_chain(results: Results) -> list[Row]:
    target, key = "a chain of 1,000,000 operators works", penstock("job graph", "forward_chain", 1_000_000)
    flinks = [("job graph", "forward_chain", 100_000, peer) for peer in FLINKS]
    run = results.together(key, beside=flinks)
    if not run.rows:
        return [Row(target, "", None)]
    notes = [f"{key[3]} at 100,000: {row['died']}" for key in flinks if (row := run.find(*key)).get("died")]
    return [Row(target, "; ".join([f"JobGraph in {time(run.find(*key)['median'])}", *notes]), True, run=run.started)]


def huge(results: Results) -> list[Row]:
    size = 10_000_000
    phases = ("hash", "bare traversal", "bare murmur3")
    keys: list[Key] = [(phase, "layered_dag", size, "Rust") for phase in phases]
    target = "10,000,000 operators, 20,000,000 edges: operator IDs ≤ 1.5× a bare traversal and bare murmur3"
    run = results.together(*keys)
    ids_row = unmeasured(results, target, *keys)
    if run.rows:
        hashed, *floors = (run.find(*key)["median"] for key in keys)
        times = hashed / sum(floors)
        ids_row = Row(target, f"{times:.2f}× ({time(hashed)} : {time(sum(floors))})", times <= 1.5, run=run.started)
    target, key = "the same graph: whole JobGraph under 10 GiB", penstock("job graph", "layered_dag", size)
    run = results.together(key, fact="peak_bytes")
    peak = run.find(*key).get("peak_bytes")
    if not peak:
        return [ids_row, Row(target, "", None)]
    return [ids_row, Row(target, f"{peak / GIB:.2f} GiB at peak", peak < 10 * GIB, run=run.started)]


def yielding(results: Results) -> list[Row]:
    words = {"yielding_diamonds": "diamonds of yielding operators", "yielding_chain": "yielding operators in a row"}
    table_rows = []
    for shape, name in words.items():
        sizes = {peer: sorted({key[2] for key in results.rows if key[:2] == ("hash", shape) and key[3] == peer})
                 for peer in FLINKS}  # fmt: skip
        beside = {("hash", shape, size, peer): f"{peer}, IDs of {size:,}:" for peer in FLINKS for size in sizes[peer]}
        table_rows.append(growth(results, f"JobGraph of {name}: linear", "job graph", shape, beside))
    return table_rows


def fan_out(results: Results) -> list[Row]:
    wide, edges = 8_000, "execution edges"
    ours, target = (edges, "all_to_all", wide), f"the same {wide**2:,} edges as Arrow columns:"
    grouped = penstock("execution graph", "all_to_all", wide)
    return [
        below(results, f"all-to-all {wide:,} × {wide:,} as groups: under 1 ms", grouped, 1e-3),
        faster(results, f"{target} ≥ 10× faster than {FLINKS[0]} connects", 10, ours, FLINKS[0], "connect"),
        beside_a_fill(results, f"{target} within 2× of NumPy filling the same bytes", ours),
        walk(results),
    ]


def beside_a_fill(results: Results, target: str, ours: Ours) -> Row:
    """Edges as columns against NumPy filling as many bytes."""
    keys, copied = (penstock(*ours), (*ours, "NumPy")), penstock("execution edges, unfolded", *ours[1:])
    run = results.together(*keys, beside=[copied])
    if not run.rows:
        return unmeasured(results, target, *keys)
    table, fill = (run.find(*key) for key in keys)
    times, unfolded = ratio(table, fill), run.seconds(*copied)
    note = f"; what repeats is written once, {time(unfolded)} with every column copied out" if unfolded else ""
    measured = f"{times:.2f}× ({time(table['median'])} : {time(fill['median'])}){note}"
    return Row(target, measured, times <= 2, run=run.started)


def walk(results: Results) -> Row:
    target, key = (
        "20,000 × 20,000 edges iterated in bounded memory",
        penstock("execution edges, in chunks", "all_to_all", 20_000),
    )
    run = results.together(key)
    row = run.find(*key)
    if not row:
        return Row(target, "", None)
    measured = f"{time(row['median'])}, memory grows by {row['peak_bytes'] / 2**20:.1f} MiB"
    return Row(target, measured, row["peak_bytes"] < 100e6, run=run.started)


def scheduling(results: Results) -> list[Row]:
    table_rows = []
    for phase in ("regions to restart", "partition release"):
        for shape in ("scheduler_streaming", "scheduler_batch"):
            kind, ours = shape.removeprefix("scheduler_"), (phase, shape, 4_000)
            target = f"{phase}, Flink's {kind} scheduler benchmark at parallelism 4,000: ≥ 5× faster than {FLINKS[1]}"
            row = faster(results, target, 5, ours, FLINKS[1])
            run = results.together(penstock(*ours), (*ours, FLINKS[1]))
            alone = our_row(run, (f"{phase}, a call per subtask", *ours[1:]), FLINKS[1])
            note = f"; {time(alone['median'])} with a Python call per subtask" if alone else ""
            table_rows.append(replace(row, measured=row.measured + note))
    return table_rows


def python(results: Results) -> list[Row]:
    imported = next((key for key in results.rows if key[0] == "import penstock"), penstock("import penstock", "", 0))
    written, whole = (penstock(f"write a program{more}", "program", 100_000) for more in ("", ", with its StreamGraph"))
    target = "building a program of 100,000 operators through the DataStream API"
    planned = penstock("plan a program", "program", 100)
    return [
        below(results, "`import penstock`, without pyspark, pyarrow, numpy: under 150 ms", imported, 0.15),
        below(results, "planning a program of 100 operators from Python: under 5 ms", planned, 0.005),
        below(results, f"{target}: under 1 s", written, 1),
        below(results, f"{target}, and its StreamGraph: under 1 s", whole, 1),
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

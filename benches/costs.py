"""What native code may cost, and its tables of docs/performance.md."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from results import Key, Results, ratio
from speed import Table
from targets import Row, penstock, time, unmeasured

PHASE = "a program that gains nothing by native code"
COMPILED = "compile each recorded function"
FIRST = ("for the first time", "again")
MODES = {"auto": "Penstock", "off": "Penstock, native off"}
"""The values of the setting, and what rows with them are called."""


def rows(results: Results) -> list[Row]:
    """Every target of native code."""
    return [compiling(results), unchanged(results)]


def compiling(results: Results) -> Row:
    """The slowest function."""
    key, target = (
        penstock(COMPILED, FIRST[0], 1),
        "compiling a function of the recorded PyFlink programs: each under 1 ms",
    )
    run = results.together(key)
    if not run.rows:
        return unmeasured(results, target, key)
    row = run.find(*key)
    measured = f"{time(max(row['each']))}, the median {time(row['median'])}"
    return Row(target, measured, max(row["each"]) < 1e-3, run=run.started)


def unchanged(results: Results) -> Row:
    """All programs together: the time of one differs by more from run to run."""
    keys, target = programs(results), "programs that gain nothing by native code: within 2 % of native code off"
    run = results.together(*keys)
    if not keys or not run.rows:
        return unmeasured(results, target, *keys)
    more = statistics.geometric_mean(ratio(run.find(*key), run.find(*beside(key))) for key in keys[::2])
    return Row(target, f"{more:.3f}×, the mean of {len(keys) // 2}", more <= 1.02, run=run.started)


def programs(results: Results) -> list[Key]:
    """The rows of the programs, each with native code and without."""
    ours = [key for key in results.rows if key[0] == PHASE and key[3] == MODES["auto"]]
    return [both for key in ours for both in (key, beside(key))]


def beside(key: Key) -> Key:
    """The same without native code."""
    return (*key[:3], MODES["off"])


def table_of_compiling(results: Results) -> Table:
    """The median of the functions, and the slowest."""
    lines = []
    for shape in FIRST:
        row = results.find(*penstock(COMPILED, shape, 1))
        if row:
            lines.append((shape, f"{row['functions']:,}", time(row["median"]), time(max(row["each"]))))
    return ("compiled", "functions", "CPU of one: median", "slowest"), lines


def table_of_unchanged(results: Results) -> Table:
    """Each program in both modes."""
    lines = []
    for key in programs(results)[::2]:
        on, off = results.find(*key), results.find(*beside(key))
        seconds = (time(row["median"]) for row in (on, off))
        lines.append((key[1], f"{key[2]:,}", *seconds, f"{ratio(on, off):.2f}"))
    return ("a program that", "records", "CPU, native", "off", "×"), lines


def run_of_native(results: Results) -> str:
    """Of which run the two tables are."""
    run = results.together(penstock(COMPILED, FIRST[0], 1))
    return f"`native`: run of {run.started}." if run.rows else ""


TABLES: Mapping[str, Callable[[Results], Table | str]] = {
    "native_run": run_of_native,
    "compiling": table_of_compiling,
    "unchanged": table_of_unchanged,
}
"""By the name that docs/performance.md calls them."""

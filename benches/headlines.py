"""The five lines of figures in the README."""

from __future__ import annotations

from collections.abc import Callable

import speed
import targets
from results import Results
from targets import APART, FLINKS, Row, penstock, time

FLINK = FLINKS[0]


def text(results: Results) -> str:
    """A list, each figure from one run."""
    return "\n".join(f"- {words}: {make(results) or APART}." for words, make in LINES.items())


def sentence_of(row: Row, than: str) -> str:
    """A target's ratio in a sentence; a wrong result has none."""
    if row.equal is False or row.met is None:
        return row.verdict if row.equal is False else row.measured
    times, _, sides = row.measured.partition(" ")
    return f"**{times}** {than} {sides}"


def job_graph(results: Results) -> str:
    ours = ("job graph", "layered_dag", 1_000_000)
    return sentence_of(targets.faster(results, "", 0, ours, FLINK), f"faster than {FLINK}")


def long_chain(results: Results) -> str:
    ours, theirs = penstock("job graph", "forward_chain", 1_000_000), ("job graph", "forward_chain", 100_000, FLINK)
    run = results.together(ours, beside=[theirs])
    if not run.rows:
        return ""
    reason = run.find(*theirs).get("died", "").partition(":")[0].rpartition(".")[2]
    dies = f"; {FLINK} dies at 100,000 ({reason})" if reason else ""
    return f"JobGraph in **{time(run.find(*ours)['median'])}**{dies}"


def edges(results: Results) -> str:
    ours = ("execution edges", "all_to_all", 8_000)
    return sentence_of(targets.faster(results, "", 0, ours, FLINK, "connect"), f"faster than {FLINK} connects them")


def words(results: Results) -> str:
    than = {peer: speed.less_cpu(results, "", 0, peer) for peer in ("mapInArrow", "PyFlink")}
    return ", ".join(
        sentence for peer, row in than.items() if (sentence := sentence_of(row, f"those of {speed.NAMES[peer]}"))
    )


def chaining(results: Results) -> str:
    saved = speed.chaining_saves(results)
    return "" if saved is None else f"saves **{saved:,.0f} ns** per record for each exchange that it takes away"


LINES: dict[str, Callable[[Results], str]] = {
    "JobGraph of 1,000,000 operators": job_graph,
    "A chain of 1,000,000 operators": long_chain,
    "64,000,000 edges of an all-to-all exchange as Arrow columns": edges,
    "Word count with running sums, records per CPU-second": words,
    "Chaining operators": chaining,
}

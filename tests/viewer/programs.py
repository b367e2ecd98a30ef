"""Plans that pages are made of: small ones of programs, and large ones of graphs that are described."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.analysis.builder import model_of, model_of_record
from penstock.analysis.model import ProgramModel
from penstock.common import Configuration, OutputTag, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.functions import KeyedProcessFunction, ProcessFunction
from penstock.datastream.state import ValueStateDescriptor
from penstock.plan import Pipeline
from tests.analysis.programs import planned

ORDER = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
LATE = OutputTag("rejected", ORDER)

HOSTILE = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><!--<script>",
    "quotes ' \" ` ${1+1} {{TITLE}} &lt;b&gt;",
    "bidi \u202egnp.exe\u202c \u2066isolated\u2069",
    "line\u2028separator\u2029 and \x00 null \x07",
    "long " + "x" * 10_000,
    "\u0645\u0631\u062d\u0628\u0627 \u4f60\u597d \U0001f600",
)
"""Names of operators as a stranger would choose them."""


class Total(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value


class Check(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value


def orders(*, edited: bool = False) -> ProgramModel:
    """A program of some size: two sources, chains, a side output, slot sharing groups; or what an edit makes of it."""
    return replace(model_of(planned(lambda env: _orders(env, edited))), name="orders")


def logged(*, off: bool = False) -> Pipeline:
    """A program with functions that native code runs, and one that it does not; or with native code off."""
    return planned(lambda env: _logged(env, off))


def _logged(env: StreamExecutionEnvironment, off: bool) -> None:
    if off:
        env.configure(Configuration().set_string("penstock.native", "off"))
    read = env.from_collection([("a", 1, "eur")], type_info=ORDER)
    checked = read.filter(lambda order: logging.info("read %s", order) is None).name("Log")
    checked.key_by(lambda order: order[0], Types.STRING()).sum(1).name("Sums").print()


def _orders(env: StreamExecutionEnvironment, edited: bool) -> None:
    env.set_parallelism(4)
    read = env.from_collection([("a", 1, "eur")], type_info=ORDER).name("Orders").uid("orders")
    checked = read.rebalance().process(Check(), ORDER).name("Check").uid("check")
    if edited:
        checked = checked.map(lambda order: order, ORDER).name("Round")
    rates = env.from_collection([("eur", 1, "x")], type_info=ORDER).name("Rates").slot_sharing_group("rates")
    priced = checked.union(rates.map(lambda rate: rate, ORDER).name("Parse rates").slot_sharing_group("rates"))
    totals = priced.key_by(lambda order: order[0], Types.STRING()).process(Total(), ORDER).name("Totals")
    totals = totals if edited else totals.uid("totals")
    totals.filter(lambda order: order[1] > 10).name("Large ones").set_parallelism(2).print().name("Out")
    if not edited:
        checked.get_side_output(LATE).map(lambda order: order, ORDER).name("Explain").print().name("Rejected")


def hostile() -> ProgramModel:
    """Operators with the names of :data:`HOSTILE`, which are uids and descriptions too."""

    def program(env: StreamExecutionEnvironment) -> None:
        stream: Any = env.from_collection([1], type_info=Types.LONG())
        for at, name in enumerate(HOSTILE):
            stream = stream.map(lambda number: number, Types.LONG()).name(name).set_description(name)
            stream = stream.uid(f"{at} {name}".encode("utf-8", "replace").decode())
            stream = stream.rebalance() if at % 3 == 2 else stream
        stream.print()

    return model_of(planned(program))


def layered(operators: int, seed: int = 7) -> ProgramModel:
    """A graph of so many operators, in pipelines of up to two hundred that are woven from a few lanes each."""
    dice = random.Random(seed)
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    kinds = ("Map", "Filter", "Flat Map", "Window", "Process", "Join")
    for node in range(operators):
        inside = node % 200
        source = inside < 4
        name = f"Source: feed {node}" if source else f"{dice.choice(kinds)} {node}"
        nodes.append({"id": node, "name": name, "kind": "source" if source else "operator", "parallelism": 4})
        if source:
            continue
        before = node - dice.choice((4, 4, 4, 3, 5)) if inside >= 5 else node - inside
        how = dice.choice(("FORWARD", "FORWARD", "FORWARD", "HASH", "REBALANCE"))
        edges.append({"source": before, "target": node, "partitioner": how})
    return model_of_record({"settings": {"job_name": f"{operators:,} operators"}, "nodes": nodes, "edges": edges})

"""Payments that never end, checked against rules that change while they come: broadcast state.

Payments and rules are sources without an end. Each subtask that checks payments keeps all rules in broadcast state, and
the sums per card in state of its own; both outlive the job in its checkpoint directory. The rules come in the first
step, and one of them changes in a later one.

    penstock run --local examples/fraud_rules.py

Prints::

    card-0 has paid 120: over the limit of 100
    card-0 has paid 160: over the limit of 100
    card-1 has paid 70: over the limit of 60
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    KeyedBroadcastProcessFunction,
    MapStateDescriptor,
    RuntimeContext,
    StateTtlConfig,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.connectors import DataGeneratorSource, RateLimiterStrategy

Payment = tuple[str, int]  # card, how much
Rule = tuple[str, int]  # name, at most
PAYMENTS: list[Payment] = [
    ("card-0", 80),
    ("card-1", 20),
    ("card-0", 40),
    ("card-1", 30),
    ("card-0", 40),
    ("card-1", 20),
]
RULES: list[Rule] = [("limit-0", 100), ("limit-1", 100), ("limit-1", 60)]  # the last one replaces the one before
RULES_STATE = MapStateDescriptor("rules", Types.STRING(), Types.INT())
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class OverLimit(KeyedBroadcastProcessFunction[str, Payment, Rule, str]):
    """Payments by which a card gets above its limit."""

    def open(self, runtime_context: RuntimeContext) -> None:
        paid = ValueStateDescriptor("paid", Types.INT())
        paid.enable_time_to_live(StateTtlConfig.new_builder(Time.days(30)).build())  # of cards that are still in use
        self.paid = runtime_context.get_state(paid)

    def process_element(self, value: Payment, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[str]) -> Iterable[str]:
        card, amount = value
        paid = (self.paid.value() or 0) + amount
        self.paid.update(paid)
        limit = ctx.get_broadcast_state(RULES_STATE).get(card.replace("card", "limit"))
        if limit is not None and paid > limit:
            yield f"{card} has paid {paid}: over the limit of {limit}"

    def process_broadcast_element(self, value: Rule, ctx: KeyedBroadcastProcessFunction.Context[str]) -> None:
        ctx.get_broadcast_state(RULES_STATE).put(*value)


def main() -> None:
    """Build the program and run it. Both sources give a few records in each step, and end at some time, for a test."""
    with tempfile.TemporaryDirectory() as folder:
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration({"execution.checkpointing.dir": f"{folder}/job"})
        )
        few = RateLimiterStrategy.per_checkpoint(2)
        none = WatermarkStrategy.no_watermarks()
        payments = DataGeneratorSource(lambda n: PAYMENTS[n], len(PAYMENTS), PAIR, few)
        rules = DataGeneratorSource(lambda n: RULES[n], len(RULES), PAIR, few)
        by_card = (
            env.from_source(payments, none, "payments")
            .uid("payments")
            .key_by(lambda payment: payment[0], key_type=Types.STRING())
        )
        broadcast = env.from_source(rules, none, "rules").uid("rules").broadcast(RULES_STATE)
        checked = by_card.connect(broadcast).process(OverLimit(), output_type=Types.STRING()).set_parallelism(2)
        with checked.uid("checked").execute_and_collect("fraud") as results:
            for line in sorted(results):
                print(line)


if __name__ == "__main__":
    main()

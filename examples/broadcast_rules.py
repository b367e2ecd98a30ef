"""Rules that every subtask knows: payments are checked against limits that come as a stream of their own.

The limits are broadcast: each of the two subtasks that check payments gets all of them and keeps them in broadcast
state, which the payments' side may only read. In BATCH mode the limits are read to their end before the first payment.

    penstock run --local examples/broadcast_rules.py

Prints::

    bob paid 900 for travel: limit is 500
    ann paid 80 for food: limit is 50
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.common import Types
from penstock.datastream import (
    BroadcastProcessFunction,
    MapStateDescriptor,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)

Payment = tuple[str, str, int]  # who, for what, how much
Limit = tuple[str, int]  # for what, at most
PAYMENTS: list[Payment] = [("ann", "food", 30), ("bob", "travel", 900), ("ann", "travel", 400), ("ann", "food", 80)]
LIMITS: list[Limit] = [("food", 100), ("travel", 500), ("food", 50)]  # the later limit replaces the earlier
LIMITS_STATE = MapStateDescriptor("limits", Types.STRING(), Types.INT())


class OverLimit(BroadcastProcessFunction[Payment, Limit, str]):
    """Payments above the limit of their kind."""

    def process_element(self, value: Payment, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterable[str]:
        who, kind, amount = value
        limit = ctx.get_broadcast_state(LIMITS_STATE).get(kind)
        if limit is not None and amount > limit:
            yield f"{who} paid {amount} for {kind}: limit is {limit}"

    def process_broadcast_element(self, value: Limit, ctx: BroadcastProcessFunction.Context) -> None:
        ctx.get_broadcast_state(LIMITS_STATE).put(*value)


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    payments = env.from_collection(
        PAYMENTS, type_info=Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])
    ).rebalance()
    limits = env.from_collection(LIMITS, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).broadcast(LIMITS_STATE)
    checked = payments.connect(limits).process(OverLimit(), output_type=Types.STRING()).set_parallelism(2)
    checked.print().set_parallelism(1)
    env.execute("limits")


if __name__ == "__main__":
    main()

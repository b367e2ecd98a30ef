"""Orders that come twice: each goes on once, and is forgotten an hour after it was seen last.

A shop sends an order again when it is not sure whether it has arrived. Each customer has a map of the orders seen,
whose entries end by the clock of the machine, so the state does not grow for ever.

    penstock run --local examples/time_to_live.py

Prints::

    ann: order 1, 20 euros
    ann: order 2, 30 euros
    bob: order 1, 5 euros
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.common import Time, Types
from penstock.datastream import (
    KeyedProcessFunction,
    MapState,
    MapStateDescriptor,
    RuntimeContext,
    StateTtlConfig,
    StreamExecutionEnvironment,
)

Order = tuple[str, int, int]  # customer, number of the order, euros
ORDERS: list[Order] = [
    ("ann", 1, 20),
    ("ann", 2, 30),
    ("ann", 1, 20),  # once more
    ("bob", 1, 5),
    ("bob", 1, 5),  # once more
]
AN_HOUR = (
    StateTtlConfig.new_builder(Time.hours(1))
    .update_ttl_on_read_and_write()  # one that keeps coming is not forgotten
    .never_return_expired()
    .build()
)


class Once(KeyedProcessFunction[str, Order, str]):
    """Lets each order of a customer pass once."""

    seen: MapState[int, bool]

    def open(self, runtime_context: RuntimeContext) -> None:
        descriptor = MapStateDescriptor("seen", Types.INT(), Types.BOOLEAN())
        descriptor.enable_time_to_live(AN_HOUR)
        self.seen = runtime_context.get_map_state(descriptor)

    def process_element(self, value: Order, ctx: KeyedProcessFunction.Context[str]) -> Iterator[str]:
        customer, number, euros = value
        if number not in self.seen:
            self.seen[number] = True
            yield f"{customer}: order {number}, {euros} euros"


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    (
        env.from_collection(ORDERS, type_info=Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()]))
        .key_by(lambda order: order[0], key_type=Types.STRING())
        .process(Once(), output_type=Types.STRING())
        .print()
    )
    env.execute("orders")


if __name__ == "__main__":
    main()

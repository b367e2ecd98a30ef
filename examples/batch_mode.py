"""STREAMING and BATCH mode: the same program tells each new balance of an account, or only the last one.

In BATCH mode an operator gets the records of a key one after the other, sorted by time, and emits what is known when
the key has ended. State lives as long as its key, so memory does not grow with the number of accounts.

    penstock run --local examples/batch_mode.py

Prints::

    STREAMING: ann 100, ann 70, bob 20, bob 45
    BATCH: ann 70, bob 45
"""

from __future__ import annotations

from penstock.common import Types
from penstock.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

BOOKINGS: list[tuple[str, int]] = [("ann", 100), ("bob", 20), ("ann", -30), ("bob", 25)]


def balances(mode: RuntimeExecutionMode) -> list[tuple[str, int]]:
    """What the program emits in a mode, by account."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(mode)
    bookings = env.from_collection(BOOKINGS, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    totals = bookings.key_by(lambda booking: booking[0], key_type=Types.STRING()).sum(1)
    with totals.execute_and_collect(f"balances, {mode.name}") as results:
        return sorted(results, key=lambda balance: balance[0])


def main() -> None:
    """Run the program in both modes."""
    for mode in (RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH):
        print(f"{mode.name}: {', '.join(f'{account} {balance}' for account, balance in balances(mode))}")


if __name__ == "__main__":
    main()

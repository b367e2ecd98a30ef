"""What becomes of results: each is weighed by one function, and the weights are added up.

The weight of a result is the sum of its numbers, of its times since the first event, and of the lengths of its texts,
times 1, 3, 5, 7, … in the order of its fields. ``Weights.java`` has the same functions.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

BASE = 1_436_918_400_000  # the time of the first event
MASK = (1 << 52) - 1


def short_bid(bid: Any) -> int:
    return bid[0] + 3 * bid[1] + 5 * bid[2] + 7 * (bid[3] - BASE) + 9 * len(bid[4])


def pair(result: Any) -> int:
    return result[0] + 3 * result[1]


def place(result: Any) -> int:
    return len(result[0]) + 3 * len(result[1]) + 5 * len(result[2]) + 7 * result[3]


def count_and_end(result: Any) -> int:
    return result[0] + 3 * result[1] + 5 * (result[2] - BASE)


def newcomer(result: Any) -> int:
    return result[0] + 3 * len(result[1]) + 5 * (result[2] - BASE)


def winner(result: Any) -> int:
    auction, name, description, initial, reserve, time, expires, seller, category, extra, *bid = result
    auction += 3 * len(name) + 5 * len(description) + 7 * initial + 9 * reserve
    auction += 11 * (time - BASE) + 13 * (expires - BASE) + 15 * seller + 17 * category + 19 * len(extra)
    return auction + 21 * bid[0] + 23 * bid[1] + 25 * bid[2] + 27 * (bid[3] - BASE) + 29 * len(bid[4])


def session(result: Any) -> int:
    return result[0] + 3 * result[1] + 5 * (result[2] - BASE) + 7 * (result[3] - BASE)


def by_clock(result: Any) -> int:
    """Depends on the clock neither by the number of windows nor by their times."""
    return result[0] * result[1]


def statistics(result: Any) -> int:
    weight = len(result[0]) + 3 * len(result[1]) + 5 * len(result[2])
    for at in range(3, 15):
        weight += (2 * at + 1) * result[at]
    return weight


def bid(bid: Any) -> int:
    auction, bidder, price, channel, url, time, extra = bid
    return (
        auction + 3 * bidder + 5 * price + 7 * len(channel) + 9 * len(url) + 11 * (time - BASE) + 13 * len(extra)
    )  # fmt: skip


def ranked(result: Any) -> int:
    return bid(result[:7]) + 15 * result[7]


def bid_and_auction(result: Any) -> int:
    name, description, initial, reserve, time, expires, seller, category, extra = result[7:]
    auction = 15 * len(name) + 17 * len(description) + 19 * initial + 21 * reserve
    auction += 23 * (time - BASE) + 25 * (expires - BASE) + 27 * seller + 29 * category + 31 * len(extra)
    return bid(result[:7]) + auction


WEIGHTS: dict[str, Callable[[Any], int]] = {
    "q0": short_bid,
    "q1": short_bid,
    "q2": pair,
    "q3": place,
    "q4": pair,
    "q5": count_and_end,
    "q7": short_bid,
    "q8": newcomer,
    "q9": winner,
    "q11": session,
    "q12": by_clock,
    "q13": short_bid,
    "q16": statistics,
    "q18": bid,
    "q19": ranked,
    "q20": bid_and_auction,
}
BY_CLOCK = ("q12",)
"""Queries whose number of results depends on the clock."""


class Sum:
    """Counts weights and adds them up; leaves a file with both when it closes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.rows = self.total = 0

    def invoke(self, value: int) -> None:
        self.rows += 1
        self.total += value

    def close(self) -> None:
        if self.rows:
            path = Path(self.folder, f"{uuid.uuid4()}.part")
            path.write_text(f"{self.rows} {self.total & MASK}")
            os.rename(path, path.with_suffix(".sum"))
        self.rows = self.total = 0


def collected(folder: str) -> tuple[int, int]:
    """Number and sum of all weights that sinks have left in a folder."""
    parts = [path.read_text().split() for path in Path(folder).glob("*.sum")]
    return sum(int(rows) for rows, _ in parts), sum(int(total) for _, total in parts) & MASK


def line(result: Any) -> str:
    return "|".join(map(str, result))

"""Runs a query on DuckDB, in this process; prints a line of JSON per round.

    python duckdb_run.py QUERY parquet FOLDER ROUNDS

A physical bound, not a peer: it reads only the columns it needs, and has neither watermarks, nor order, nor state.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb
from sums import BASE, MASK

TEN_SECONDS, TWO_SECONDS, DAY = 10_000, 2_000, 86_400_000
FIRST = "price DESC, dateTime, bidder, extra"
BID = ("auction", "bidder", "price", "#channel", "#url", "@dateTime", "#extra")
AUCTION = (
    "#itemName", "#description", "initialBid", "reserve", "@opened", "@expires", "seller", "category", "#filler"
)  # fmt: skip
CLOSED = """
    SELECT id, itemName, description, initialBid, reserve, a.dateTime AS opened, expires, seller, category,
           a.extra AS filler, auction, bidder, price, b.dateTime, b.extra
    FROM auction a JOIN bid b ON b.auction = a.id AND b.dateTime BETWEEN a.dateTime AND a.expires
    QUALIFY row_number() OVER (PARTITION BY id ORDER BY price DESC, b.dateTime, bidder, b.extra) = 1"""
SLIDING = f"""
    SELECT auction, count(*) AS number, ends
    FROM (SELECT auction, (dateTime // {TWO_SECONDS} + n) * {TWO_SECONDS} AS ends FROM bid, range(1, 6) AS w(n))
    GROUP BY auction, ends
    QUALIFY number = max(number) OVER (PARTITION BY ends)"""
OPENS = """
    SELECT bidder, dateTime, dateTime - lag(dateTime) OVER (PARTITION BY bidder ORDER BY dateTime) AS pause FROM bid"""
NUMBERED = f"""
    SELECT bidder, dateTime, count(*) FILTER (pause >= {TEN_SECONDS})
           OVER (PARTITION BY bidder ORDER BY dateTime ROWS UNBOUNDED PRECEDING) AS session
    FROM ({OPENS})"""
SESSIONS = f"""
    SELECT bidder, count(*) AS number, min(dateTime) AS begins, max(dateTime) + {TEN_SECONDS} AS ends
    FROM ({NUMBERED}) GROUP BY bidder, session"""
RANGES = ("true", "price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")
STATISTICS = f"""
    SELECT channel, strftime(make_timestamp(max(dateTime) * 1000), '%Y-%m-%d') AS day,
           strftime(make_timestamp(max(dateTime) * 1000), '%H:%M') AS minute,
           {", ".join(f"count(*) FILTER ({r}) AS n{i}" for i, r in enumerate(RANGES))},
           {", ".join(f"count(DISTINCT bidder) FILTER ({r}) AS b{i}" for i, r in enumerate(RANGES))},
           {", ".join(f"count(DISTINCT auction) FILTER ({r}) AS a{i}" for i, r in enumerate(RANGES))}
    FROM bid GROUP BY channel, dateTime // {DAY}"""
NUMBERS = tuple(f"{letter}{i}" for letter in "nba" for i in range(4))
SHORT_BID = ("auction", "bidder", "price", "@dateTime", "#extra")
WITH_PERSONS = """
    SELECT name, city, state, a.id FROM auction a JOIN person p ON seller = p.id
    WHERE category = 10 AND state IN ('OR', 'ID', 'CA')"""
AVERAGES = f"SELECT category, sum(price)::BIGINT // count(*) AS average FROM ({CLOSED}) GROUP BY category"
HIGHEST = f"SELECT * FROM bid QUALIFY price = max(price) OVER (PARTITION BY dateTime // {TEN_SECONDS})"
NEWCOMERS = f"""
    SELECT DISTINCT p.id, name, p.dateTime // {TEN_SECONDS} * {TEN_SECONDS} AS begins
    FROM person p JOIN auction a ON seller = p.id AND p.dateTime // {TEN_SECONDS} = a.dateTime // {TEN_SECONDS}"""
WITH_SIDE_INPUT = """
    SELECT auction, bidder, price, dateTime, value AS extra FROM bid JOIN side ON auction % 10000 = key"""
LAST = """
    SELECT * FROM bid QUALIFY 1 = row_number()
    OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC, extra DESC)"""
TOP = f"""
    SELECT *, row_number() OVER (PARTITION BY auction ORDER BY {FIRST}) AS rank FROM bid QUALIFY rank <= 10"""
WITH_AUCTIONS = """
    SELECT b.*, itemName, description, initialBid, reserve, a.dateTime AS opened, expires, seller, category,
           a.extra AS filler
    FROM bid b JOIN auction a ON auction = id WHERE category = 10"""

QUERIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "q0": ("SELECT * FROM bid", SHORT_BID),
    "q1": ("SELECT auction, bidder, price * 908 // 1000 AS price, dateTime, extra FROM bid", SHORT_BID),
    "q2": ("SELECT auction, price FROM bid WHERE auction % 123 = 0", ("auction", "price")),
    "q3": (WITH_PERSONS, ("#name", "#city", "#state", "id")),
    "q4": (AVERAGES, ("category", "average")),
    "q5": (SLIDING, ("auction", "number", "@ends")),
    "q7": (HIGHEST, ("auction", "price", "bidder", "@dateTime", "#extra")),
    "q8": (NEWCOMERS, ("id", "#name", "@begins")),
    "q9": (CLOSED, ("id", *AUCTION, *SHORT_BID)),
    "q11": (SESSIONS, ("bidder", "number", "@begins", "@ends")),
    "q13": (WITH_SIDE_INPUT, SHORT_BID),
    "q16": (STATISTICS, ("#channel", "#day", "#minute", *NUMBERS)),
    "q18": (LAST, BID),
    "q19": (TOP, (*BID, "rank")),
    "q20": (WITH_AUCTIONS, (*BID, *AUCTION)),
}
"""The results of each, and the fields that are weighed: numbers, ``#`` lengths of texts, ``@`` times."""


def weighed(query: str) -> str:
    """Counts results and adds up their weights, as ``sums.py`` does."""
    sql, fields = QUERIES[query]
    terms = " + ".join(f"{2 * at + 1} * {number(field)}" for at, field in enumerate(fields))
    return f"SELECT count(*), coalesce(sum({terms}), 0) FROM ({sql})"


def number(field: str) -> str:
    """What is weighed of a field."""
    if field[0] == "#":
        return f"length({field[1:]})"
    return f"({field[1:]} - {BASE})" if field[0] == "@" else field


def main() -> None:
    query, form, folder, rounds = sys.argv[1:]
    if form != "parquet" or query not in QUERIES:
        return
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    for kind in ("person", "auction", "bid"):
        files = Path(folder, "parquet", kind, "*.parquet")
        connection.execute(f"CREATE VIEW {kind} AS SELECT * FROM read_parquet('{files}')")
    side = Path(folder, "side_input.csv")
    connection.execute(
        f"CREATE VIEW side AS SELECT * FROM read_csv('{side}', header = false, "
        "columns = {'key': 'BIGINT', 'value': 'VARCHAR'})"
    )
    for number in range(int(rounds)):
        cpu, started = time.process_time(), time.time()
        (row,) = connection.execute(weighed(query)).fetchall()
        cpu, wall = time.process_time() - cpu, time.time() - started
        checksum = int(row[1]) & MASK
        print(json.dumps({"round": number, "cpu": cpu, "wall": wall, "rows": row[0], "checksum": checksum}), flush=True)


if __name__ == "__main__":
    main()

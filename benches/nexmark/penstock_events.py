"""The events as streams of tuples: out of one log of lines, or out of a Parquet table per kind."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from penstock.common import Duration, Row, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.datastream.formats import ParquetColumnarRowInputFormat

LONG, STRING = Types.LONG(), Types.STRING()
PERSON = Types.TUPLE([LONG, STRING, STRING, STRING, STRING, STRING, LONG, STRING])
AUCTION = Types.TUPLE([LONG, STRING, STRING, LONG, LONG, LONG, LONG, LONG, LONG, STRING])
BID = Types.TUPLE([LONG, LONG, LONG, STRING, STRING, LONG, STRING])

Person = tuple[int, str, str, str, str, str, int, str]
"""id, name, emailAddress, creditCard, city, state, dateTime, extra"""
Auction = tuple[int, str, str, int, int, int, int, int, int, str]
"""id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra"""
Bid = tuple[int, int, int, str, str, int, str]
"""auction, bidder, price, channel, url, dateTime, extra"""

DISORDER = 4_000
"""Milliseconds that watermarks are behind the latest event."""


def person_of(line: str) -> Person:
    _, person, name, mail, card, city, state, time, extra = line.split(",")
    return int(person), name, mail, card, city, state, int(time), extra


def auction_of(line: str) -> Auction:
    _, auction, name, description, initial, reserve, time, expires, seller, category, extra = line.split(",")
    return (
        int(auction), name, description, int(initial), int(reserve),
        int(time), int(expires), int(seller), int(category), extra,
    )  # fmt: skip


def bid_of(line: str) -> Bid:
    _, auction, bidder, price, channel, url, time, extra = line.split(",")
    return int(auction), int(bidder), int(price), channel, url, int(time), extra


class Log:
    """All events of ``csv``: lines that begin with 0 (persons), 1 (auctions) or 2 (bids)."""

    name = "csv"

    def __init__(self, env: StreamExecutionEnvironment, folder: Path) -> None:
        self.env, self.folder = env, folder

    @cached_property
    def lines(self) -> DataStream[str]:
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(self.folder / self.name))
        return self.env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "events")

    def persons(self) -> DataStream[Person]:
        return self.lines.filter(lambda line: line[0] == "0").map(person_of, PERSON)

    def auctions(self) -> DataStream[Auction]:
        return self.lines.filter(lambda line: line[0] == "1").map(auction_of, AUCTION)

    def bids(self) -> DataStream[Bid]:
        return self.lines.filter(lambda line: line[0] == "2").map(bid_of, BID)


def person_of_json(event: dict[str, Any]) -> Person:
    p = event["person"]
    return (
        p["id"], p["name"], p["emailAddress"], p["creditCard"], p["city"], p["state"], p["dateTime"], p["extra"]
    )  # fmt: skip


def auction_of_json(event: dict[str, Any]) -> Auction:
    a = event["auction"]
    return (
        a["id"], a["itemName"], a["description"], a["initialBid"], a["reserve"],
        a["dateTime"], a["expires"], a["seller"], a["category"], a["extra"],
    )  # fmt: skip


def bid_of_json(event: dict[str, Any]) -> Bid:
    b = event["bid"]
    return b["auction"], b["bidder"], b["price"], b["channel"], b["url"], b["dateTime"], b["extra"]


class JsonLog(Log):
    """All events of ``jsonl``: objects with an ``event_type`` of 0, 1 or 2."""

    name = "jsonl"

    @cached_property
    def events(self) -> DataStream[dict[str, Any]]:
        return self.lines.map(json.loads, Types.PICKLED_BYTE_ARRAY())

    def persons(self) -> DataStream[Person]:
        return self.events.filter(lambda event: event["event_type"] == 0).map(person_of_json, PERSON)

    def auctions(self) -> DataStream[Auction]:
        return self.events.filter(lambda event: event["event_type"] == 1).map(auction_of_json, AUCTION)

    def bids(self) -> DataStream[Bid]:
        return self.events.filter(lambda event: event["event_type"] == 2).map(bid_of_json, BID)


def fields(**types: Any) -> Any:
    return DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in types.items()])


B, S = DataTypes.BIGINT(), DataTypes.STRING()
PERSONS = fields(id=B, name=S, emailAddress=S, creditCard=S, city=S, state=S, dateTime=B, extra=S)
AUCTIONS = fields(
    id=B, itemName=S, description=S, initialBid=B, reserve=B, dateTime=B, expires=B, seller=B, category=B, extra=S
)
BIDS = fields(auction=B, bidder=B, price=B, channel=S, url=S, dateTime=B, extra=S)


def person_of_row(row: Row) -> Person:
    return (
        row.id, row.name, row.emailAddress, row.creditCard, row.city, row.state, row.dateTime, row.extra
    )  # fmt: skip


def auction_of_row(row: Row) -> Auction:
    return (
        row.id, row.itemName, row.description, row.initialBid, row.reserve,
        row.dateTime, row.expires, row.seller, row.category, row.extra,
    )  # fmt: skip


def bid_of_row(row: Row) -> Bid:
    return row.auction, row.bidder, row.price, row.channel, row.url, row.dateTime, row.extra


class Tables:
    """The three tables of ``parquet``."""

    def __init__(self, env: StreamExecutionEnvironment, folder: Path) -> None:
        self.env, self.folder = env, folder

    def table(self, name: str, row_type: Any) -> DataStream[Row]:
        rows = ParquetColumnarRowInputFormat(row_type)
        source = FileSource.for_bulk_file_format(rows, str(self.folder / "parquet" / name)).build()
        return self.env.from_source(source, WatermarkStrategy.no_watermarks(), name)

    def persons(self) -> DataStream[Person]:
        return self.table("person", PERSONS).map(person_of_row, PERSON)

    def auctions(self) -> DataStream[Auction]:
        return self.table("auction", AUCTIONS).map(auction_of_row, AUCTION)

    def bids(self) -> DataStream[Bid]:
        return self.table("bid", BIDS).map(bid_of_row, BID)


Events = Log | Tables
FORMATS = {"csv": Log, "jsonl": JsonLog, "parquet": Tables}


def in_time(stream: DataStream[Any], field: int) -> DataStream[Any]:
    """With the timestamps of a field, and watermarks."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(lambda event, _: event[field]))

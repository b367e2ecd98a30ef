"""The queries as a reader of Penstock's guide would write them. ``README.md`` says what each gives.

A query takes events and returns the stream of its results, which are tuples.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from typing import Any

from penstock_events import AUCTION, BID, LONG, STRING, Auction, Bid, Events, in_time

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
)
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

END = 2**63 - 1
"""The last watermark."""
Query = Callable[[Events], "DataStream[Any]"]
SHORT_BID = Types.TUPLE([LONG, LONG, LONG, LONG, STRING])


def short(bid: Bid) -> tuple[int, int, int, int, str]:
    auction, bidder, price, _, _, time, extra = bid
    return auction, bidder, price, time, extra


# --- one bid at a time ---------------------------------------------------------------------------------------------


def q0(events: Events) -> DataStream[Any]:
    return events.bids().map(short, SHORT_BID)


def q1(events: Events) -> DataStream[Any]:
    return events.bids().map(lambda bid: (bid[0], bid[1], bid[2] * 908 // 1000, bid[5], bid[6]), SHORT_BID)


def q2(events: Events) -> DataStream[Any]:
    chosen = events.bids().filter(lambda bid: bid[0] % 123 == 0)
    return chosen.map(lambda bid: (bid[0], bid[2]), Types.TUPLE([LONG, LONG]))


class WithSideInput(MapFunction):
    """Bids with the value of a file for their auction."""

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, runtime_context: Any) -> None:
        with open(self.path) as file:
            self.values = dict(line.rstrip("\n").split(",") for line in file)

    def map(self, value: Bid) -> tuple[int, int, int, int, str]:
        auction, bidder, price, _, _, time, _ = value
        return auction, bidder, price, time, self.values[str(auction % 10_000)]


def q13(events: Events) -> DataStream[Any]:
    return events.bids().map(WithSideInput(str(events.folder / "side_input.csv")), SHORT_BID)


# --- joins ---------------------------------------------------------------------------------------------------------


class Sellers(KeyedCoProcessFunction):
    """Persons with the ids of their auctions, whichever comes first."""

    def open(self, runtime_context: Any) -> None:
        self.person = runtime_context.get_state(ValueStateDescriptor("person", PLACE))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", LONG))

    def process_element1(self, value: tuple[int, str, str, str], ctx: Any) -> Iterator[Any]:
        self.person.update(value)
        for auction in self.waiting.get():
            yield value[1], value[2], value[3], auction
        self.waiting.clear()

    def process_element2(self, value: tuple[int, int], ctx: Any) -> Iterator[Any]:
        person = self.person.value()
        if person is None:
            self.waiting.add(value[0])
        else:
            yield person[1], person[2], person[3], value[0]


PLACE = Types.TUPLE([LONG, STRING, STRING, STRING])


def q3(events: Events) -> DataStream[Any]:
    persons = events.persons().filter(lambda person: person[5] in ("OR", "ID", "CA"))
    places = persons.map(lambda person: (person[0], person[1], person[4], person[5]), PLACE)
    auctions = events.auctions().filter(lambda auction: auction[8] == 10)
    sold = auctions.map(lambda auction: (auction[0], auction[7]), Types.TUPLE([LONG, LONG]))
    by_seller = places.key_by(lambda person: person[0], LONG).connect(sold.key_by(lambda auction: auction[1], LONG))
    return by_seller.process(Sellers(), Types.TUPLE([STRING, STRING, STRING, LONG]))


class BidsOfCategory(KeyedCoProcessFunction):
    """Bids with the auction they are for, if it is of category 10."""

    def open(self, runtime_context: Any) -> None:
        self.auction = runtime_context.get_state(ValueStateDescriptor("auction", AUCTION))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", BID))

    def process_element1(self, value: Auction, ctx: Any) -> Iterator[Any]:
        self.auction.update(value)
        if value[8] == 10:
            for bid in self.waiting.get():
                yield bid + value[1:]
        self.waiting.clear()

    def process_element2(self, value: Bid, ctx: Any) -> Iterator[Any]:
        auction = self.auction.value()
        if auction is None:
            self.waiting.add(value)
        elif auction[8] == 10:
            yield value + auction[1:]


BID_AND_AUCTION = Types.TUPLE(
    [LONG, LONG, LONG, STRING, STRING, LONG, STRING, STRING, STRING, LONG, LONG, LONG, LONG, LONG, LONG, STRING]
)


def q20(events: Events) -> DataStream[Any]:
    auctions = events.auctions().key_by(lambda auction: auction[0], LONG)
    bids = events.bids().key_by(lambda bid: bid[0], LONG)
    return auctions.connect(bids).process(BidsOfCategory(), BID_AND_AUCTION)


def with_auctions(persons: Iterable[Any], auctions: Iterable[Any]) -> Iterator[Any]:
    """Persons that opened an auction, with the start of the window."""
    if any(True for _ in auctions):
        for person, name, time in persons:
            yield person, name, time - time % 10_000


def q8(events: Events) -> DataStream[Any]:
    persons = in_time(events.persons(), 6).map(lambda person: (person[0], person[1], person[6]), NEWCOMER)
    sellers = in_time(events.auctions(), 5).map(lambda auction: auction[7], LONG)
    both = persons.co_group(sellers).where(lambda person: person[0], LONG).equal_to(lambda seller: seller, LONG)
    return both.window(TumblingEventTimeWindows.of(Time.seconds(10))).apply(with_auctions, NEWCOMER)


NEWCOMER = Types.TUPLE([LONG, STRING, LONG])


# --- auctions that close -------------------------------------------------------------------------------------------


class Closing(KeyedCoProcessFunction):
    """An auction with its best bid, when the watermark passes its expiry.

    Closed auctions stay in state, as with SQL's join, so that bids that come too late need not wait for them.
    """

    def __init__(self, auction_type: Any, bid_type: Any) -> None:
        self.auction_type, self.bid_type = auction_type, bid_type

    def open(self, runtime_context: Any) -> None:
        self.auction = runtime_context.get_state(ValueStateDescriptor("auction", self.auction_type))
        self.best = runtime_context.get_state(ValueStateDescriptor("best", self.bid_type))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", self.bid_type))

    def process_element1(self, value: Any, ctx: Any) -> None:
        self.auction.update(value)
        ctx.timer_service().register_event_time_timer(value[EXPIRES])
        for bid in self.waiting.get():
            self.offer(value, bid)
        self.waiting.clear()

    def process_element2(self, value: Any, ctx: Any) -> None:
        auction = self.auction.value()
        if auction is None:
            self.waiting.add(value)
        else:
            self.offer(auction, value)

    def offer(self, auction: Any, bid: Any) -> None:
        if auction[OPENED] <= bid[TIME] <= auction[EXPIRES]:
            best = self.best.value()
            if best is None or rank(bid) < rank(best):
                self.best.update(bid)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        best = self.best.value()
        if best is not None:
            yield self.auction.value() + best
            self.best.clear()


OPENED, EXPIRES = 5, 6
"""Fields of auctions."""
TIME = 3
"""Field of short bids."""


def rank(bid: tuple[int, int, int, int, str]) -> tuple[int, int, int, str]:
    """Sorts short bids: the highest price, then the earliest, then by bidder and filler."""
    _, bidder, price, time, extra = bid
    return -price, time, bidder, extra


def q9(events: Events) -> DataStream[Any]:
    auctions = in_time(events.auctions(), 5).key_by(lambda auction: auction[0], LONG)
    bids = in_time(events.bids(), 5).map(short, SHORT_BID).key_by(lambda bid: bid[0], LONG)
    return auctions.connect(bids).process(Closing(AUCTION, SHORT_BID), WINNER)


WINNER = Types.TUPLE([LONG, STRING, STRING, LONG, LONG, LONG, LONG, LONG, LONG, STRING, LONG, LONG, LONG, LONG, STRING])


class HighestPrice(KeyedCoProcessFunction):
    """The category of an auction and its highest price, when the watermark passes its expiry; see :class:`Closing`."""

    def open(self, runtime_context: Any) -> None:
        self.auction = runtime_context.get_state(ValueStateDescriptor("auction", OPEN))
        self.best = runtime_context.get_state(ValueStateDescriptor("best", LONG))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", OFFER))

    def process_element1(self, value: tuple[int, int, int, int], ctx: Any) -> None:
        self.auction.update(value)
        ctx.timer_service().register_event_time_timer(value[3])
        for bid in self.waiting.get():
            self.offer(value, bid)
        self.waiting.clear()

    def process_element2(self, value: tuple[int, int, int], ctx: Any) -> None:
        auction = self.auction.value()
        if auction is None:
            self.waiting.add(value)
        else:
            self.offer(auction, value)

    def offer(self, auction: tuple[int, int, int, int], bid: tuple[int, int, int]) -> None:
        if auction[2] <= bid[2] <= auction[3]:
            best = self.best.value()
            if best is None or bid[1] > best:
                self.best.update(bid[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        best = self.best.value()
        if best is not None:
            yield self.auction.value()[1], best
            self.best.clear()


class Average(KeyedProcessFunction):
    """The average of all prices of a category, at the end."""

    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", CATEGORY_PRICE))

    def process_element(self, value: tuple[int, int], ctx: Any) -> None:
        so_far = self.sum.value()
        if so_far is None:
            ctx.timer_service().register_event_time_timer(END)
            so_far = 0, 0
        self.sum.update((so_far[0] + 1, so_far[1] + value[1]))

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        count, total = self.sum.value()
        yield ctx.get_current_key(), total // count


OPEN, OFFER = Types.TUPLE([LONG, LONG, LONG, LONG]), Types.TUPLE([LONG, LONG, LONG])
CATEGORY_PRICE = Types.TUPLE([LONG, LONG])


def q4(events: Events) -> DataStream[Any]:
    auctions = in_time(events.auctions(), 5).map(lambda auction: (auction[0], auction[8], auction[5], auction[6]), OPEN)
    bids = in_time(events.bids(), 5).map(lambda bid: (bid[0], bid[2], bid[5]), OFFER)
    by_auction = auctions.key_by(lambda auction: auction[0], LONG).connect(bids.key_by(lambda bid: bid[0], LONG))
    prices = by_auction.process(HighestPrice(), CATEGORY_PRICE)
    return prices.key_by(lambda price: price[0], LONG).process(Average(), CATEGORY_PRICE)


# --- windows -------------------------------------------------------------------------------------------------------


class Count(AggregateFunction):
    """How many there are."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: object, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithEnd(ProcessWindowFunction):
    """Key, number, and the end of the window."""

    def process(self, key: int, context: Any, elements: Iterable[int]) -> Iterator[Any]:
        for count in elements:
            yield key, count, context.window().end


class WithWindow(ProcessWindowFunction):
    """Key, number, start and end of the window."""

    def process(self, key: int, context: Any, elements: Iterable[int]) -> Iterator[Any]:
        window = context.window()
        for count in elements:
            yield key, count, window.start, window.end


class Highest(AggregateFunction):
    """All records that have the highest value of a field."""

    def __init__(self, field: int) -> None:
        self.field = field

    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        if not accumulator or value[self.field] > accumulator[0][self.field]:
            return [value]
        if value[self.field] == accumulator[0][self.field]:
            accumulator.append(value)
        return accumulator

    def get_result(self, accumulator: list[Any]) -> list[Any]:
        return accumulator


COUNT_AND_END = Types.TUPLE([LONG, LONG, LONG])
COUNT_AND_WINDOW = Types.TUPLE([LONG, LONG, LONG, LONG])


def q5(events: Events) -> DataStream[Any]:
    auctions = in_time(events.bids(), 5).map(lambda bid: bid[0], LONG).key_by(lambda auction: auction, LONG)
    windows = auctions.window(SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(2)))
    counts = windows.aggregate(Count(), WithEnd(), LONG, COUNT_AND_END)
    most = counts.window_all(TumblingEventTimeWindows.of(Time.seconds(2)))
    several = Types.LIST(COUNT_AND_END)
    return most.aggregate(Highest(1), None, several, several).flat_map(lambda best: best, COUNT_AND_END)


def q7(events: Events) -> DataStream[Any]:
    bids = in_time(events.bids(), 5).map(lambda bid: (bid[0], bid[2], bid[1], bid[5], bid[6]), SHORT_BID)
    windows = bids.window_all(TumblingEventTimeWindows.of(Time.seconds(10)))
    several = Types.LIST(SHORT_BID)
    return windows.aggregate(Highest(1), None, several, several).flat_map(lambda best: best, SHORT_BID)


def q11(events: Events) -> DataStream[Any]:
    bidders = in_time(events.bids(), 5).map(lambda bid: bid[1], LONG).key_by(lambda bidder: bidder, LONG)
    sessions = bidders.window(EventTimeSessionWindows.with_gap(Time.seconds(10)))
    return sessions.aggregate(Count(), WithWindow(), LONG, COUNT_AND_WINDOW)


class ByClockOrAtEnd(Trigger):
    """Fires when the clock reaches the end of the window, or when the input has ended."""

    def on_element(self, value: object, timestamp: int, window: Any, context: Any) -> TriggerResult:
        context.register_processing_time_timer(window.max_timestamp())
        context.register_event_time_timer(END)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, context: Any) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE

    def on_event_time(self, time: int, window: Any, context: Any) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE

    def clear(self, window: Any, context: Any) -> None:
        context.delete_processing_time_timer(window.max_timestamp())
        context.delete_event_time_timer(END)


def q12(events: Events) -> DataStream[Any]:
    bidders = events.bids().map(lambda bid: bid[1], LONG).key_by(lambda bidder: bidder, LONG)
    windows = bidders.window(TumblingProcessingTimeWindows.of(Time.seconds(10))).trigger(ByClockOrAtEnd())
    return windows.aggregate(Count(), WithWindow(), LONG, COUNT_AND_WINDOW)


class Statistics(AggregateFunction):
    """Of the bids of a channel: the latest time; bids, bidders and auctions, in all and by range of price."""

    def create_accumulator(self) -> list[Any]:
        return [0, [0, 0, 0, 0], [set() for _ in range(4)], [set() for _ in range(4)]]

    def add(self, value: tuple[str, int, int, int, int], accumulator: list[Any]) -> list[Any]:
        _, auction, bidder, price, time = value
        latest, bids, bidders, auctions = accumulator
        if time > latest:
            accumulator[0] = time
        for at in (0, 1 if price < 10_000 else 2 if price < 1_000_000 else 3):
            bids[at] += 1
            bidders[at].add(bidder)
            auctions[at].add(auction)
        return accumulator

    def get_result(self, accumulator: list[Any]) -> list[int]:
        latest, bids, bidders, auctions = accumulator
        return [latest, *bids, *map(len, bidders), *map(len, auctions)]


class WithDay(ProcessWindowFunction):
    """The channel, the day and the last minute in texts, and the numbers."""

    def process(self, key: str, context: Any, elements: Iterable[list[int]]) -> Iterator[Any]:
        for latest, *numbers in elements:
            last = datetime.fromtimestamp(latest / 1000, timezone.utc)
            yield key, f"{last:%Y-%m-%d}", f"{last:%H:%M}", *numbers


OF_CHANNEL = Types.TUPLE([STRING, LONG, LONG, LONG, LONG])


def q16(events: Events) -> DataStream[Any]:
    bids = in_time(events.bids(), 5).map(lambda bid: (bid[3], bid[0], bid[1], bid[2], bid[5]), OF_CHANNEL)
    days = bids.key_by(lambda bid: bid[0], STRING).window(TumblingEventTimeWindows.of(Time.days(1)))
    numbers = Types.TUPLE([STRING, STRING, STRING] + 12 * [LONG])
    return days.aggregate(Statistics(), WithDay(), Types.PICKLED_BYTE_ARRAY(), numbers)


# --- at the end ----------------------------------------------------------------------------------------------------


class Last(KeyedProcessFunction):
    """The last bid of a key: the latest, then by price and filler."""

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", BID))

    def process_element(self, value: Bid, ctx: Any) -> None:
        last = self.last.value()
        if last is None:
            ctx.timer_service().register_event_time_timer(END)
        if last is None or (value[5], value[2], value[6]) > (last[5], last[2], last[6]):
            self.last.update(value)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield self.last.value()


def q18(events: Events) -> DataStream[Any]:
    pairs = in_time(events.bids(), 5).key_by(lambda bid: (bid[1], bid[0]), Types.TUPLE([LONG, LONG]))
    return pairs.process(Last(), BID)


class Top(KeyedProcessFunction):
    """The ten highest bids of a key, with their rank."""

    def open(self, runtime_context: Any) -> None:
        self.top = runtime_context.get_list_state(ListStateDescriptor("top", BID))

    def process_element(self, value: Bid, ctx: Any) -> None:
        top = list(self.top.get())
        if not top:
            ctx.timer_service().register_event_time_timer(END)
        elif len(top) == 10 and order(value) >= order(top[9]):
            return
        insort(top, value, key=order)
        self.top.update(top[:10])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        for number, bid in enumerate(self.top.get(), 1):
            yield *bid, number


def order(bid: Bid) -> tuple[int, int, int, str]:
    """Sorts bids as :func:`rank` does."""
    _, bidder, price, _, _, time, extra = bid
    return -price, time, bidder, extra


def q19(events: Events) -> DataStream[Any]:
    auctions = in_time(events.bids(), 5).key_by(lambda bid: bid[0], LONG)
    return auctions.process(Top(), Types.TUPLE([LONG, LONG, LONG, STRING, STRING, LONG, STRING, LONG]))


QUERIES: dict[str, Query] = {
    query.__name__: query for query in (q0, q1, q2, q3, q4, q5, q7, q8, q9, q11, q12, q13, q16, q18, q19, q20)
}

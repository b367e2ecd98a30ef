package penstock.nexmark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingProcessingTimeWindows;
import org.apache.flink.util.Collector;

/** The queries of penstock_queries.py. README.md says what each gives. */
final class Queries {
  static final TypeInformation<Tuple2<Long, Long>> PAIR = Types.TUPLE(Types.LONG, Types.LONG);
  static final TypeInformation<Tuple3<Long, Long, Long>> THREE = Types.TUPLE(Types.LONG, Types.LONG, Types.LONG);
  static final TypeInformation<Tuple4<Long, Long, Long, Long>> FOUR =
      Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG);
  static final TypeInformation<Tuple5<Long, Long, Long, Long, String>> SHORT_BID =
      Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG, Types.STRING);
  static final TypeInformation<Tuple3<Long, String, Long>> NEWCOMER = Types.TUPLE(Types.LONG, Types.STRING, Types.LONG);
  static final TypeInformation<Tuple4<Long, String, String, String>> PERSON_PLACE =
      Types.TUPLE(Types.LONG, Types.STRING, Types.STRING, Types.STRING);

  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
  private static final Duration TWO_SECONDS = Duration.ofSeconds(2);

  private Queries() {}

  static Results<?> of(String query, Events events) {
    return switch (query) {
      case "q0" -> new Results<>(q0(events), Weights::shortBid, Weights.texts());
      case "q1" -> new Results<>(q1(events), Weights::shortBid, Weights.texts());
      case "q2" -> new Results<>(q2(events), Weights::pair, Weights.texts());
      case "q3" -> new Results<>(q3(events), Weights::place, Weights.texts());
      case "q4" -> new Results<>(q4(events), Weights::pair, Weights.texts());
      case "q5" -> new Results<>(q5(events), Weights::countAndEnd, Weights.texts());
      case "q7" -> new Results<>(q7(events), Weights::shortBid, Weights.texts());
      case "q8" -> new Results<>(q8(events), Weights::newcomer, Weights.texts());
      case "q9" -> new Results<>(q9(events), Weights::winner, Weights.texts());
      case "q11" -> new Results<>(q11(events), Weights::session, Weights.texts());
      case "q12" -> new Results<>(q12(events), Weights::byClock, Weights.texts());
      case "q13" -> new Results<>(q13(events), Weights::shortBid, Weights.texts());
      case "q16" -> new Results<>(q16(events), Weights::statistics, Weights::statisticsText);
      case "q18" -> new Results<>(q18(events), Weights::bid, Bid::toString);
      case "q19" -> new Results<>(q19(events), Weights::ranked, Weights.texts());
      case "q20" -> new Results<>(q20(events), Weights::bidAndAuction, Weights::bidAndAuctionText);
      default -> throw new IllegalArgumentException("There is no query " + query);
    };
  }

  private static Tuple5<Long, Long, Long, Long, String> shortBid(Bid bid) {
    return Tuple5.of(bid.auction, bid.bidder, bid.price, bid.dateTime, bid.extra);
  }

  // One bid at a time

  private static DataStream<Tuple5<Long, Long, Long, Long, String>> q0(Events events) {
    return events.bids().map(Queries::shortBid).returns(SHORT_BID);
  }

  private static DataStream<Tuple5<Long, Long, Long, Long, String>> q1(Events events) {
    return events
        .bids()
        .map(bid -> Tuple5.of(bid.auction, bid.bidder, bid.price * 908 / 1000, bid.dateTime, bid.extra))
        .returns(SHORT_BID);
  }

  private static DataStream<Tuple2<Long, Long>> q2(Events events) {
    return events.bids().filter(bid -> bid.auction % 123 == 0).map(bid -> Tuple2.of(bid.auction, bid.price)).returns(PAIR);
  }

  private static DataStream<Tuple5<Long, Long, Long, Long, String>> q13(Events events) {
    return events.bids().map(new WithSideInput(events.folder + "/side_input.csv"));
  }

  /** Bids with the value of a file for their auction. */
  static final class WithSideInput extends RichMapFunction<Bid, Tuple5<Long, Long, Long, Long, String>> {
    private final String path;
    private transient Map<Long, String> values;

    WithSideInput(String path) {
      this.path = path;
    }

    @Override
    public void open(OpenContext context) throws Exception {
      values = new HashMap<>();
      for (String line : Files.readAllLines(Path.of(path))) {
        int comma = line.indexOf(',');
        values.put(Long.valueOf(line.substring(0, comma)), line.substring(comma + 1));
      }
    }

    @Override
    public Tuple5<Long, Long, Long, Long, String> map(Bid bid) {
      return Tuple5.of(bid.auction, bid.bidder, bid.price, bid.dateTime, values.get(bid.auction % 10_000));
    }
  }

  // Joins

  private static DataStream<Tuple4<String, String, String, Long>> q3(Events events) {
    DataStream<Tuple4<Long, String, String, String>> persons =
        events
            .persons()
            .filter(person -> person.state.equals("OR") || person.state.equals("ID") || person.state.equals("CA"))
            .map(person -> Tuple4.of(person.id, person.name, person.city, person.state))
            .returns(PERSON_PLACE);
    DataStream<Tuple2<Long, Long>> auctions =
        events
            .auctions()
            .filter(auction -> auction.category == 10)
            .map(auction -> Tuple2.of(auction.id, auction.seller))
            .returns(PAIR);
    return persons
        .keyBy(person -> person.f0, Types.LONG)
        .connect(auctions.keyBy(auction -> auction.f1, Types.LONG))
        .process(new Joins.Sellers());
  }

  private static DataStream<Tuple2<Bid, Auction>> q20(Events events) {
    return events
        .auctions()
        .keyBy(auction -> auction.id, Types.LONG)
        .connect(events.bids().keyBy(bid -> bid.auction, Types.LONG))
        .process(new Joins.BidsOfCategory());
  }

  private static DataStream<Tuple3<Long, String, Long>> q8(Events events) {
    DataStream<Tuple3<Long, String, Long>> persons =
        events.timedPersons().map(person -> Tuple3.of(person.id, person.name, person.dateTime)).returns(NEWCOMER);
    DataStream<Long> sellers = events.timedAuctions().map(auction -> auction.seller).returns(Types.LONG);
    return persons
        .coGroup(sellers)
        .where(person -> person.f0, Types.LONG)
        .equalTo(seller -> seller, Types.LONG)
        .window(TumblingEventTimeWindows.of(TEN_SECONDS))
        .apply(Queries::withAuctions, NEWCOMER);
  }

  private static void withAuctions(
      Iterable<Tuple3<Long, String, Long>> persons, Iterable<Long> auctions, Collector<Tuple3<Long, String, Long>> out) {
    if (auctions.iterator().hasNext()) {
      for (Tuple3<Long, String, Long> person : persons) {
        out.collect(Tuple3.of(person.f0, person.f1, person.f2 - person.f2 % 10_000));
      }
    }
  }

  // Auctions that close

  private static DataStream<Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>>> q9(Events events) {
    DataStream<Tuple5<Long, Long, Long, Long, String>> bids =
        events.timedBids().map(Queries::shortBid).returns(SHORT_BID);
    return events
        .timedAuctions()
        .keyBy(auction -> auction.id, Types.LONG)
        .connect(bids.keyBy(bid -> bid.f0, Types.LONG))
        .process(new Closing.Winner());
  }

  private static DataStream<Tuple2<Long, Long>> q4(Events events) {
    DataStream<Tuple4<Long, Long, Long, Long>> auctions =
        events
            .timedAuctions()
            .map(auction -> Tuple4.of(auction.id, auction.category, auction.dateTime, auction.expires))
            .returns(FOUR);
    DataStream<Tuple3<Long, Long, Long>> bids =
        events.timedBids().map(bid -> Tuple3.of(bid.auction, bid.price, bid.dateTime)).returns(THREE);
    return auctions
        .keyBy(auction -> auction.f0, Types.LONG)
        .connect(bids.keyBy(bid -> bid.f0, Types.LONG))
        .process(new Closing.HighestPrice())
        .keyBy(price -> price.f0, Types.LONG)
        .process(new Closing.Average());
  }

  // Windows

  private static DataStream<Tuple3<Long, Long, Long>> q5(Events events) {
    return events
        .timedBids()
        .map(bid -> bid.auction)
        .returns(Types.LONG)
        .keyBy(auction -> auction, Types.LONG)
        .window(SlidingEventTimeWindows.of(TEN_SECONDS, TWO_SECONDS))
        .aggregate(new Windows.Count<>(), new Windows.WithEnd())
        .windowAll(TumblingEventTimeWindows.of(TWO_SECONDS))
        .aggregate(new Windows.Highest<>(count -> count.f1), Types.LIST(THREE), Types.LIST(THREE))
        .flatMap((counts, out) -> counts.forEach(out::collect), THREE);
  }

  private static DataStream<Tuple5<Long, Long, Long, Long, String>> q7(Events events) {
    return events
        .timedBids()
        .map(bid -> Tuple5.of(bid.auction, bid.price, bid.bidder, bid.dateTime, bid.extra))
        .returns(SHORT_BID)
        .windowAll(TumblingEventTimeWindows.of(TEN_SECONDS))
        .aggregate(new Windows.Highest<>(bid -> bid.f1), Types.LIST(SHORT_BID), Types.LIST(SHORT_BID))
        .flatMap((bids, out) -> bids.forEach(out::collect), SHORT_BID);
  }

  private static DataStream<Tuple4<Long, Long, Long, Long>> q11(Events events) {
    return events
        .timedBids()
        .map(bid -> bid.bidder)
        .returns(Types.LONG)
        .keyBy(bidder -> bidder, Types.LONG)
        .window(EventTimeSessionWindows.withGap(TEN_SECONDS))
        .aggregate(new Windows.Count<>(), new Windows.WithWindow());
  }

  private static DataStream<Tuple4<Long, Long, Long, Long>> q12(Events events) {
    return events
        .bids()
        .map(bid -> bid.bidder)
        .returns(Types.LONG)
        .keyBy(bidder -> bidder, Types.LONG)
        .window(TumblingProcessingTimeWindows.of(TEN_SECONDS))
        .trigger(new Windows.ByClockOrAtEnd())
        .aggregate(new Windows.Count<>(), new Windows.WithWindow());
  }

  private static DataStream<Tuple4<String, String, String, long[]>> q16(Events events) {
    return events
        .timedBids()
        .map(bid -> Tuple5.of(bid.channel, bid.auction, bid.bidder, bid.price, bid.dateTime))
        .returns(Types.TUPLE(Types.STRING, Types.LONG, Types.LONG, Types.LONG, Types.LONG))
        .keyBy(bid -> bid.f0, Types.STRING)
        .window(TumblingEventTimeWindows.of(Duration.ofDays(1)))
        .aggregate(new Windows.Statistics(), new Windows.WithDay());
  }

  // At the end

  private static DataStream<Bid> q18(Events events) {
    return events
        .timedBids()
        .keyBy(bid -> Tuple2.of(bid.bidder, bid.auction), PAIR)
        .process(new AtEnd.Last());
  }

  private static DataStream<Tuple2<Bid, Long>> q19(Events events) {
    return events
        .timedBids()
        .keyBy(bid -> bid.auction, Types.LONG)
        .process(new AtEnd.Top())
        .returns(new TypeHint<Tuple2<Bid, Long>>() {});
  }
}

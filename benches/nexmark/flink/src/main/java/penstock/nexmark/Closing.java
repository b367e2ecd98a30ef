package penstock.nexmark;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Functions of queries 4 and 9: something of an auction when the watermark passes its expiry.
 *
 * <p>Closed auctions stay in state, as with SQL's join, so that bids that come too late need not wait for them.
 */
final class Closing {
  private static final long END = Long.MAX_VALUE; // the last watermark

  private Closing() {}

  /** An auction with its best bid. */
  static final class Winner
      extends KeyedCoProcessFunction<
          Long, Auction, Tuple5<Long, Long, Long, Long, String>, Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>>> {
    private transient ValueState<Auction> auction;
    private transient ValueState<Tuple5<Long, Long, Long, Long, String>> best;
    private transient ListState<Tuple5<Long, Long, Long, Long, String>> waiting;

    @Override
    public void open(OpenContext context) {
      auction = getRuntimeContext().getState(new ValueStateDescriptor<>("auction", Auction.class));
      best = getRuntimeContext().getState(new ValueStateDescriptor<>("best", Queries.SHORT_BID));
      waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", Queries.SHORT_BID));
    }

    @Override
    public void processElement1(
        Auction value, Context context, Collector<Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>>> out)
        throws Exception {
      auction.update(value);
      context.timerService().registerEventTimeTimer(value.expires);
      for (Tuple5<Long, Long, Long, Long, String> bid : waiting.get()) {
        offer(value, bid);
      }
      waiting.clear();
    }

    @Override
    public void processElement2(
        Tuple5<Long, Long, Long, Long, String> bid,
        Context context,
        Collector<Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>>> out)
        throws Exception {
      Auction known = auction.value();
      if (known == null) {
        waiting.add(bid);
      } else {
        offer(known, bid);
      }
    }

    private void offer(Auction known, Tuple5<Long, Long, Long, Long, String> bid) throws Exception {
      if (known.dateTime <= bid.f3 && bid.f3 <= known.expires) {
        Tuple5<Long, Long, Long, Long, String> highest = best.value();
        if (highest == null || before(bid, highest)) {
          best.update(bid);
        }
      }
    }

    @Override
    public void onTimer(
        long timestamp, OnTimerContext context, Collector<Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>>> out)
        throws Exception {
      Tuple5<Long, Long, Long, Long, String> bid = best.value();
      if (bid != null) {
        out.collect(Tuple2.of(auction.value(), bid));
        best.clear();
      }
    }

    /** The highest price comes first, then the earliest, then by bidder and filler. */
    private static boolean before(
        Tuple5<Long, Long, Long, Long, String> one, Tuple5<Long, Long, Long, Long, String> other) {
      int order = Long.compare(other.f2, one.f2);
      if (order == 0) {
        order = Long.compare(one.f3, other.f3);
      }
      if (order == 0) {
        order = Long.compare(one.f1, other.f1);
      }
      return (order == 0 ? one.f4.compareTo(other.f4) : order) < 0;
    }
  }

  /** The category of an auction and its highest price. */
  static final class HighestPrice
      extends KeyedCoProcessFunction<Long, Tuple4<Long, Long, Long, Long>, Tuple3<Long, Long, Long>, Tuple2<Long, Long>> {
    private transient ValueState<Tuple4<Long, Long, Long, Long>> auction;
    private transient ValueState<Long> best;
    private transient ListState<Tuple3<Long, Long, Long>> waiting;

    @Override
    public void open(OpenContext context) {
      auction = getRuntimeContext().getState(new ValueStateDescriptor<>("auction", Queries.FOUR));
      best = getRuntimeContext().getState(new ValueStateDescriptor<>("best", Types.LONG));
      waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", Queries.THREE));
    }

    @Override
    public void processElement1(
        Tuple4<Long, Long, Long, Long> value, Context context, Collector<Tuple2<Long, Long>> out) throws Exception {
      auction.update(value);
      context.timerService().registerEventTimeTimer(value.f3);
      for (Tuple3<Long, Long, Long> bid : waiting.get()) {
        offer(value, bid);
      }
      waiting.clear();
    }

    @Override
    public void processElement2(Tuple3<Long, Long, Long> bid, Context context, Collector<Tuple2<Long, Long>> out)
        throws Exception {
      Tuple4<Long, Long, Long, Long> known = auction.value();
      if (known == null) {
        waiting.add(bid);
      } else {
        offer(known, bid);
      }
    }

    private void offer(Tuple4<Long, Long, Long, Long> known, Tuple3<Long, Long, Long> bid) throws Exception {
      if (known.f2 <= bid.f2 && bid.f2 <= known.f3) {
        Long price = best.value();
        if (price == null || bid.f1 > price) {
          best.update(bid.f1);
        }
      }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple2<Long, Long>> out) throws Exception {
      Long price = best.value();
      if (price != null) {
        out.collect(Tuple2.of(auction.value().f1, price));
        best.clear();
      }
    }
  }

  /** The average of all prices of a category, at the end. */
  static final class Average extends KeyedProcessFunction<Long, Tuple2<Long, Long>, Tuple2<Long, Long>> {
    private transient ValueState<Tuple2<Long, Long>> sum;

    @Override
    public void open(OpenContext context) {
      sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Queries.PAIR));
    }

    @Override
    public void processElement(Tuple2<Long, Long> price, Context context, Collector<Tuple2<Long, Long>> out)
        throws Exception {
      Tuple2<Long, Long> all = sum.value();
      if (all == null) {
        context.timerService().registerEventTimeTimer(END);
        all = Tuple2.of(0L, 0L);
      }
      sum.update(Tuple2.of(all.f0 + 1, all.f1 + price.f1));
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple2<Long, Long>> out) throws Exception {
      Tuple2<Long, Long> all = sum.value();
      out.collect(Tuple2.of(context.getCurrentKey(), all.f1 / all.f0));
    }
  }
}

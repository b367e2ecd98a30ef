package penstock.nexmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Functions of queries 18 and 19, which give their results at the last watermark. */
final class AtEnd {
  private static final long END = Long.MAX_VALUE; // the last watermark

  private AtEnd() {}

  /** The last bid of a key: the latest, then by price and filler. */
  static final class Last extends KeyedProcessFunction<Tuple2<Long, Long>, Bid, Bid> {
    private transient ValueState<Bid> last;

    @Override
    public void open(OpenContext context) {
      last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Bid.class));
    }

    @Override
    public void processElement(Bid bid, Context context, Collector<Bid> out) throws Exception {
      Bid before = last.value();
      if (before == null) {
        context.timerService().registerEventTimeTimer(END);
      }
      if (before == null || after(bid, before)) {
        last.update(bid);
      }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Bid> out) throws Exception {
      out.collect(last.value());
    }

    private static boolean after(Bid one, Bid other) {
      int order = Long.compare(one.dateTime, other.dateTime);
      if (order == 0) {
        order = Long.compare(one.price, other.price);
      }
      return (order == 0 ? one.extra.compareTo(other.extra) : order) > 0;
    }
  }

  /** The ten highest bids of a key, with their rank. */
  static final class Top extends KeyedProcessFunction<Long, Bid, Tuple2<Bid, Long>> {
    private static final Comparator<Bid> ORDER = Top::compare;
    private transient ListState<Bid> top;

    @Override
    public void open(OpenContext context) {
      top = getRuntimeContext().getListState(new ListStateDescriptor<>("top", Bid.class));
    }

    @Override
    public void processElement(Bid bid, Context context, Collector<Tuple2<Bid, Long>> out) throws Exception {
      List<Bid> bids = new ArrayList<>(11);
      top.get().forEach(bids::add);
      if (bids.isEmpty()) {
        context.timerService().registerEventTimeTimer(END);
      } else if (bids.size() == 10 && compare(bid, bids.get(9)) >= 0) {
        return;
      }
      int place = Collections.binarySearch(bids, bid, ORDER);
      bids.add(place < 0 ? -place - 1 : place + 1, bid);
      if (bids.size() > 10) {
        bids.remove(10);
      }
      top.update(bids);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple2<Bid, Long>> out) throws Exception {
      long number = 0;
      for (Bid bid : top.get()) {
        out.collect(Tuple2.of(bid, ++number));
      }
    }

    /** The highest price comes first, then the earliest, then by bidder and filler. */
    private static int compare(Bid one, Bid other) {
      int order = Long.compare(other.price, one.price);
      if (order == 0) {
        order = Long.compare(one.dateTime, other.dateTime);
      }
      if (order == 0) {
        order = Long.compare(one.bidder, other.bidder);
      }
      return order == 0 ? one.extra.compareTo(other.extra) : order;
    }
  }
}

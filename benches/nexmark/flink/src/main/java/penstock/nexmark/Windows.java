package penstock.nexmark;

import java.io.Serializable;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.triggers.Trigger;
import org.apache.flink.streaming.api.windowing.triggers.TriggerResult;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Functions and the trigger of queries 5, 7, 11, 12 and 16. */
final class Windows {
  private static final long END = Long.MAX_VALUE; // the last watermark

  private Windows() {}

  /** How many there are. */
  static final class Count<T> implements AggregateFunction<T, Long, Long> {
    @Override
    public Long createAccumulator() {
      return 0L;
    }

    @Override
    public Long add(T value, Long count) {
      return count + 1;
    }

    @Override
    public Long getResult(Long count) {
      return count;
    }

    @Override
    public Long merge(Long one, Long other) {
      return one + other;
    }
  }

  /** Key, number, and the end of the window. */
  static final class WithEnd extends ProcessWindowFunction<Long, Tuple3<Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(Long key, Context context, Iterable<Long> counts, Collector<Tuple3<Long, Long, Long>> out) {
      for (Long count : counts) {
        out.collect(Tuple3.of(key, count, context.window().getEnd()));
      }
    }
  }

  /** Key, number, start and end of the window. */
  static final class WithWindow extends ProcessWindowFunction<Long, Tuple4<Long, Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(Long key, Context context, Iterable<Long> counts, Collector<Tuple4<Long, Long, Long, Long>> out) {
      TimeWindow window = context.window();
      for (Long count : counts) {
        out.collect(Tuple4.of(key, count, window.getStart(), window.getEnd()));
      }
    }
  }

  /** A number of a record. */
  interface Field<T> extends ToLongFunction<T>, Serializable {}

  /** All records that have the highest number. */
  static final class Highest<T> implements AggregateFunction<T, List<T>, List<T>> {
    private final Field<T> field;

    Highest(Field<T> field) {
      this.field = field;
    }

    @Override
    public List<T> createAccumulator() {
      return new ArrayList<>(1);
    }

    @Override
    public List<T> add(T value, List<T> highest) {
      if (!highest.isEmpty()) {
        long number = field.applyAsLong(value);
        long most = field.applyAsLong(highest.get(0));
        if (number < most) {
          return highest;
        }
        if (number > most) {
          highest.clear();
        }
      }
      highest.add(value);
      return highest;
    }

    @Override
    public List<T> getResult(List<T> highest) {
      return highest;
    }

    @Override
    public List<T> merge(List<T> one, List<T> other) {
      throw new UnsupportedOperationException("These windows never merge.");
    }
  }

  /** Fires when the clock reaches the end of the window, or when the input has ended. */
  static final class ByClockOrAtEnd extends Trigger<Object, TimeWindow> {
    @Override
    public TriggerResult onElement(Object element, long timestamp, TimeWindow window, TriggerContext context) {
      context.registerProcessingTimeTimer(window.maxTimestamp());
      context.registerEventTimeTimer(END);
      return TriggerResult.CONTINUE;
    }

    @Override
    public TriggerResult onProcessingTime(long time, TimeWindow window, TriggerContext context) {
      return TriggerResult.FIRE_AND_PURGE;
    }

    @Override
    public TriggerResult onEventTime(long time, TimeWindow window, TriggerContext context) {
      return TriggerResult.FIRE_AND_PURGE;
    }

    @Override
    public void clear(TimeWindow window, TriggerContext context) {
      context.deleteProcessingTimeTimer(window.maxTimestamp());
      context.deleteEventTimeTimer(END);
    }
  }

  /** Of the bids of a channel: the latest time; bids, bidders and auctions, in all and by range of price. */
  static final class OfChannel {
    long latest;
    final long[] bids = new long[4];
    final List<Set<Long>> bidders = sets();
    final List<Set<Long>> auctions = sets();

    private static List<Set<Long>> sets() {
      return List.of(new HashSet<>(), new HashSet<>(), new HashSet<>(), new HashSet<>());
    }

    private void add(int at, Long auction, Long bidder) {
      bids[at]++;
      bidders.get(at).add(bidder);
      auctions.get(at).add(auction);
    }
  }

  /** Makes them, of channel, auction, bidder, price and time. */
  static final class Statistics implements AggregateFunction<Tuple5<String, Long, Long, Long, Long>, OfChannel, OfChannel> {
    @Override
    public OfChannel createAccumulator() {
      return new OfChannel();
    }

    @Override
    public OfChannel add(Tuple5<String, Long, Long, Long, Long> bid, OfChannel channel) {
      long price = bid.f3;
      channel.latest = Math.max(channel.latest, bid.f4);
      channel.add(0, bid.f1, bid.f2);
      channel.add(price < 10_000 ? 1 : price < 1_000_000 ? 2 : 3, bid.f1, bid.f2);
      return channel;
    }

    @Override
    public OfChannel getResult(OfChannel channel) {
      return channel;
    }

    @Override
    public OfChannel merge(OfChannel one, OfChannel other) {
      throw new UnsupportedOperationException("These windows never merge.");
    }
  }

  /** The channel, the day and the last minute in texts, and the numbers. */
  static final class WithDay
      extends ProcessWindowFunction<OfChannel, Tuple4<String, String, String, long[]>, String, TimeWindow> {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyy-MM-dd").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter MINUTE = DateTimeFormatter.ofPattern("HH:mm").withZone(ZoneOffset.UTC);

    @Override
    public void process(
        String key, Context context, Iterable<OfChannel> channels, Collector<Tuple4<String, String, String, long[]>> out) {
      for (OfChannel channel : channels) {
        Instant latest = Instant.ofEpochMilli(channel.latest);
        long[] numbers = new long[12];
        for (int at = 0; at < 4; at++) {
          numbers[at] = channel.bids[at];
          numbers[4 + at] = channel.bidders.get(at).size();
          numbers[8 + at] = channel.auctions.get(at).size();
        }
        out.collect(Tuple4.of(key, DAY.format(latest), MINUTE.format(latest), numbers));
      }
    }
  }
}

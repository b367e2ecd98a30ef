package penstock.nexmark;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/** Functions of queries 3 and 20. */
final class Joins {
  private Joins() {}

  /** Persons with the ids of their auctions, whichever comes first. */
  static final class Sellers
      extends KeyedCoProcessFunction<
          Long, Tuple4<Long, String, String, String>, Tuple2<Long, Long>, Tuple4<String, String, String, Long>> {
    private transient ValueState<Tuple4<Long, String, String, String>> person;
    private transient ListState<Long> waiting;

    @Override
    public void open(OpenContext context) {
      person = getRuntimeContext().getState(new ValueStateDescriptor<>("person", Queries.PERSON_PLACE));
      waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", Types.LONG));
    }

    @Override
    public void processElement1(
        Tuple4<Long, String, String, String> value, Context context, Collector<Tuple4<String, String, String, Long>> out)
        throws Exception {
      person.update(value);
      for (Long auction : waiting.get()) {
        out.collect(Tuple4.of(value.f1, value.f2, value.f3, auction));
      }
      waiting.clear();
    }

    @Override
    public void processElement2(
        Tuple2<Long, Long> auction, Context context, Collector<Tuple4<String, String, String, Long>> out) throws Exception {
      Tuple4<Long, String, String, String> seller = person.value();
      if (seller == null) {
        waiting.add(auction.f0);
      } else {
        out.collect(Tuple4.of(seller.f1, seller.f2, seller.f3, auction.f0));
      }
    }
  }

  /** Bids with the auction they are for, if it is of category 10. */
  static final class BidsOfCategory extends KeyedCoProcessFunction<Long, Auction, Bid, Tuple2<Bid, Auction>> {
    private transient ValueState<Auction> auction;
    private transient ListState<Bid> waiting;

    @Override
    public void open(OpenContext context) {
      auction = getRuntimeContext().getState(new ValueStateDescriptor<>("auction", Auction.class));
      waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", Bid.class));
    }

    @Override
    public void processElement1(Auction value, Context context, Collector<Tuple2<Bid, Auction>> out) throws Exception {
      auction.update(value);
      if (value.category == 10) {
        for (Bid bid : waiting.get()) {
          out.collect(Tuple2.of(bid, value));
        }
      }
      waiting.clear();
    }

    @Override
    public void processElement2(Bid bid, Context context, Collector<Tuple2<Bid, Auction>> out) throws Exception {
      Auction known = auction.value();
      if (known == null) {
        waiting.add(bid);
      } else if (known.category == 10) {
        out.collect(Tuple2.of(bid, known));
      }
    }
  }
}

package penstock.nexmark;

import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple5;

/** The functions of sums.py, and results as texts. */
final class Weights {
  private static final long BASE = 1_436_918_400_000L; // the time of the first event

  private Weights() {}

  static long shortBid(Tuple5<Long, Long, Long, Long, String> bid) {
    return bid.f0 + 3 * bid.f1 + 5 * bid.f2 + 7 * (bid.f3 - BASE) + 9 * bid.f4.length();
  }

  static long pair(Tuple2<Long, Long> pair) {
    return pair.f0 + 3 * pair.f1;
  }

  static long place(Tuple4<String, String, String, Long> place) {
    return place.f0.length() + 3 * place.f1.length() + 5 * place.f2.length() + 7 * place.f3;
  }

  static long countAndEnd(Tuple3<Long, Long, Long> count) {
    return count.f0 + 3 * count.f1 + 5 * (count.f2 - BASE);
  }

  static long newcomer(Tuple3<Long, String, Long> person) {
    return person.f0 + 3 * person.f1.length() + 5 * (person.f2 - BASE);
  }

  static long winner(Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>> winner) {
    Auction a = winner.f0;
    Tuple5<Long, Long, Long, Long, String> bid = winner.f1;
    long auction = a.id + 3 * a.itemName.length() + 5 * a.description.length() + 7 * a.initialBid + 9 * a.reserve;
    auction += 11 * (a.dateTime - BASE) + 13 * (a.expires - BASE) + 15 * a.seller + 17 * a.category + 19 * a.extra.length();
    return auction + 21 * bid.f0 + 23 * bid.f1 + 25 * bid.f2 + 27 * (bid.f3 - BASE) + 29 * bid.f4.length();
  }

  static long session(Tuple4<Long, Long, Long, Long> session) {
    return session.f0 + 3 * session.f1 + 5 * (session.f2 - BASE) + 7 * (session.f3 - BASE);
  }

  static long byClock(Tuple4<Long, Long, Long, Long> window) {
    return window.f0 * window.f1;
  }

  static long statistics(Tuple4<String, String, String, long[]> channel) {
    long weight = channel.f0.length() + 3 * channel.f1.length() + 5 * channel.f2.length();
    for (int at = 0; at < channel.f3.length; at++) {
      weight += (2 * at + 7) * channel.f3[at];
    }
    return weight;
  }

  static long bid(Bid bid) {
    long numbers = bid.auction + 3 * bid.bidder + 5 * bid.price + 11 * (bid.dateTime - BASE);
    return numbers + 7 * bid.channel.length() + 9 * bid.url.length() + 13 * bid.extra.length();
  }

  static long ranked(Tuple2<Bid, Long> ranked) {
    return bid(ranked.f0) + 15 * ranked.f1;
  }

  static long bidAndAuction(Tuple2<Bid, Auction> both) {
    Auction a = both.f1;
    long auction = 15 * a.itemName.length() + 17 * a.description.length() + 19 * a.initialBid + 21 * a.reserve;
    auction += 23 * (a.dateTime - BASE) + 25 * (a.expires - BASE) + 27 * a.seller + 29 * a.category + 31 * a.extra.length();
    return bid(both.f0) + auction;
  }

  /** Gives the text of a tuple; one lambda, as two references to one method for several types become one. */
  static <T extends Tuple> MapFunction<T, String> texts() {
    return tuple -> text(tuple);
  }

  /** The fields of a tuple, or of tuples and events in it. */
  private static String text(Tuple tuple) {
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < tuple.getArity(); at++) {
      Object field = tuple.getField(at);
      text.append(at > 0 ? "|" : "").append(field instanceof Tuple inner ? text(inner) : field);
    }
    return text.toString();
  }

  static String statisticsText(Tuple4<String, String, String, long[]> channel) {
    StringBuilder text = new StringBuilder(channel.f0 + "|" + channel.f1 + "|" + channel.f2);
    for (long number : channel.f3) {
      text.append('|').append(number);
    }
    return text.toString();
  }

  static String bidAndAuctionText(Tuple2<Bid, Auction> both) {
    return both.f0 + "|" + both.f1.withoutId();
  }
}

package penstock.nexmark;

import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;

/** The results of a query, with the weight of each and its text. */
record Results<T>(DataStream<T> stream, MapFunction<T, Long> weight, MapFunction<T, String> text) {
  /** Adds up weights. */
  void sum() {
    stream.map(weight).returns(Types.LONG).sinkTo(new Sum());
  }

  /** Keeps texts. */
  void lines() {
    stream.map(text).returns(Types.STRING).sinkTo(new Lines());
  }
}

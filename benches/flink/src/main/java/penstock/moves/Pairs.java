package penstock.moves;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.util.Collector;

/**
 * Programs with two inputs: the records with even numbers, and those with odd ones. Which input a task reads first is
 * left to chance, so their results do not depend on it.
 */
final class Pairs {
    private Pairs() {}

    static List<Program> programs() {
        return Arrays.asList(
                new Program("interval_join", 2, 128, new Input(211, 3, 300, 300), records ->
                        keyed(evens(records))
                                .intervalJoin(keyed(odds(records)))
                                .between(Version.time(-200), Version.time(500))
                                .process(new Pair(), Types.TUPLE(Types.STRING, Types.INT, Types.INT, Types.LONG))
                                .uid("join")));
    }

    private static DataStream<Tuple3<String, Integer, Long>> evens(DataStream<Tuple3<String, Integer, Long>> records) {
        return records.filter(record -> record.f1 % 2 == 0).uid("evens");
    }

    private static DataStream<Tuple3<String, Integer, Long>> odds(DataStream<Tuple3<String, Integer, Long>> records) {
        return records.filter(record -> record.f1 % 2 != 0).uid("odds");
    }

    private static KeyedStream<Tuple3<String, Integer, Long>, String> keyed(
            DataStream<Tuple3<String, Integer, Long>> records) {
        return records.keyBy(record -> record.f0, Types.STRING);
    }

    static final class Pair
            extends ProcessJoinFunction<
                    Tuple3<String, Integer, Long>, Tuple3<String, Integer, Long>, Tuple4<String, Integer, Integer, Long>> {
        @Override
        public void processElement(
                Tuple3<String, Integer, Long> left,
                Tuple3<String, Integer, Long> right,
                Context context,
                Collector<Tuple4<String, Integer, Integer, Long>> out) {
            out.collect(Tuple4.of(left.f0, left.f1, right.f1, context.getTimestamp()));
        }
    }
}

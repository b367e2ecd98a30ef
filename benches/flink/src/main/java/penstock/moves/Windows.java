package penstock.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Programs with windows. */
final class Windows {
    private static final Input IN_TIME = new Input(101, 4, 300, 300);

    private Windows() {}

    static List<Program> programs() {
        List<Program> programs = new ArrayList<>();
        programs.addAll(tumbling());
        programs.addAll(sessions());
        return programs;
    }

    private static List<Program> tumbling() {
        return Arrays.asList(
                new Program("tumbling_reduce", 2, 128, IN_TIME, records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .reduce((a, b) -> Tuple3.of(a.f0, a.f1 + b.f1, Math.max(a.f2, b.f2)))
                                .uid("window")));
    }

    private static List<Program> sessions() {
        return Arrays.asList(
                new Program("session_process", 2, 128, new Input(103, 6, 300, 300), records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .window(EventTimeSessionWindows.withGap(Version.time(500)))
                                .process(new Describe(), Types.TUPLE(Types.STRING, Types.LONG, Types.LONG, Types.INT))
                                .uid("window")));
    }

    /** Key, start, end, and the sum of the numbers, each weighted by its place. */
    static final class Describe
            extends ProcessWindowFunction<
                    Tuple3<String, Integer, Long>, Tuple4<String, Long, Long, Integer>, String, TimeWindow> {
        @Override
        public void process(
                String key,
                Context context,
                Iterable<Tuple3<String, Integer, Long>> records,
                Collector<Tuple4<String, Long, Long, Integer>> out) {
            int place = 0;
            int sum = 0;
            for (Tuple3<String, Integer, Long> record : records) {
                place++;
                sum += place * record.f1;
            }
            out.collect(Tuple4.of(key, context.window().getStart(), context.window().getEnd(), sum));
        }
    }
}

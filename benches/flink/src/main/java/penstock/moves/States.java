package penstock.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.util.Collector;

/** Programs with state of a key, in functions and in what Flink keeps for them. */
final class States {
    private static final Input IN_TIME = new Input(7, 5, 300, 300);

    private States() {}

    static List<Program> programs() {
        List<Program> programs = new ArrayList<>();
        programs.addAll(kinds());
        programs.addAll(timers());
        programs.addAll(rolling());
        return programs;
    }

    private static List<Program> kinds() {
        return Arrays.asList(
                new Program("value_count", 2, 128, IN_TIME, records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .process(new Count(), Types.TUPLE(Types.STRING, Types.LONG))
                                .uid("count")),
                new Program("list_sums", 2, 128, new Input(11, 4, 0, 0), records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .process(new Bundle(), Types.TUPLE(Types.STRING, Types.INT, Types.INT))
                                .uid("bundle")),
                new Program("map_counts", 3, 128, new Input(13, 3, 0, 0), records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .process(new CountDigits(), Types.TUPLE(Types.STRING, Types.STRING, Types.LONG))
                                .uid("digits")),
                new Program("reducing_total", 1, 128, new Input(17, 4, 0, 0), records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .process(new Total(), Types.TUPLE(Types.STRING, Types.INT))
                                .uid("total")),
                new Program("aggregating_mean", 2, 7, new Input(19, 4, 0, 0), records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .process(new RunningMean(), Types.TUPLE(Types.STRING, Types.DOUBLE))
                                .uid("mean")));
    }

    private static List<Program> timers() {
        return Arrays.asList(
                new Program("timers_event", 2, 128, IN_TIME, records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .process(new Later(), Types.TUPLE(Types.STRING, Types.LONG, Types.INT))
                                .uid("later")));
    }

    private static List<Program> rolling() {
        return Arrays.asList(
                new Program("keyed_reduce", 2, 128, new Input(23, 5, 0, 0), records ->
                        records.keyBy(record -> record.f0, Types.STRING)
                                .reduce((a, b) -> Tuple3.of(a.f0, a.f1 * 2 % 1000 + b.f1, b.f2))
                                .uid("reduce")),
                new Program("keyed_sum", 2, 128, new Input(29, 5, 0, 0), records ->
                        records.keyBy(record -> record.f0, Types.STRING).sum(1).uid("sum")));
    }

    static final class Count extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple2<String, Long>> {
        private transient ValueState<Long> count;

        @Override
        void open() {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Tuple3<String, Integer, Long> record, Context context, Collector<Tuple2<String, Long>> out)
                throws Exception {
            count.update((count.value() == null ? 0 : count.value()) + 1);
            out.collect(Tuple2.of(record.f0, count.value()));
        }
    }

    /** The numbers of a key, until one of them is a multiple of three: then their count, and their weighted sum. */
    static final class Bundle
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        private transient ListState<Integer> numbers;

        @Override
        void open() {
            numbers = getRuntimeContext().getListState(new ListStateDescriptor<>("numbers", Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            numbers.add(record.f1);
            if (record.f1 % 3 == 0) {
                int size = 0;
                int sum = 0;
                for (int number : numbers.get()) {
                    size++;
                    sum += size * number;
                }
                out.collect(Tuple3.of(record.f0, size, sum));
                numbers.clear();
            }
        }
    }

    static final class CountDigits
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, String, Long>> {
        private transient MapState<String, Long> counts;

        @Override
        void open() {
            counts = getRuntimeContext().getMapState(new MapStateDescriptor<>("counts", Types.STRING, Types.LONG));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<String, String, Long>> out)
                throws Exception {
            String digit = "d" + record.f1 % 4;
            counts.put(digit, counts.contains(digit) ? counts.get(digit) + 1 : 1L);
            long total = 0;
            for (Map.Entry<String, Long> entry : counts.entries()) {
                total += entry.getValue();
            }
            out.collect(Tuple3.of(record.f0, digit, counts.get(digit) * 1000 + total));
        }
    }

    static final class Total extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple2<String, Integer>> {
        private transient ReducingState<Integer> total;

        @Override
        void open() {
            total = getRuntimeContext().getReducingState(new ReducingStateDescriptor<>("total", Integer::sum, Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple2<String, Integer>> out)
                throws Exception {
            total.add(record.f1);
            out.collect(Tuple2.of(record.f0, total.get()));
        }
    }

    /** Accumulates sum and count. */
    static final class Mean implements AggregateFunction<Integer, Tuple2<Long, Long>, Double> {
        @Override
        public Tuple2<Long, Long> createAccumulator() {
            return Tuple2.of(0L, 0L);
        }

        @Override
        public Tuple2<Long, Long> add(Integer value, Tuple2<Long, Long> so) {
            return Tuple2.of(so.f0 + value, so.f1 + 1);
        }

        @Override
        public Double getResult(Tuple2<Long, Long> so) {
            return (double) so.f0 / so.f1;
        }

        @Override
        public Tuple2<Long, Long> merge(Tuple2<Long, Long> a, Tuple2<Long, Long> b) {
            return Tuple2.of(a.f0 + b.f0, a.f1 + b.f1);
        }
    }

    static final class RunningMean
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple2<String, Double>> {
        private transient AggregatingState<Integer, Double> mean;

        @Override
        void open() {
            mean = getRuntimeContext().getAggregatingState(
                    new AggregatingStateDescriptor<>("mean", new Mean(), Types.TUPLE(Types.LONG, Types.LONG)));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple2<String, Double>> out)
                throws Exception {
            mean.add(record.f1);
            out.collect(Tuple2.of(record.f0, mean.get()));
        }
    }

    /** Says 1.2 seconds after each record how many there were by then. */
    static final class Later
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, Long, Integer>> {
        private transient ValueState<Integer> seen;

        @Override
        void open() {
            seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<String, Long, Integer>> out)
                throws Exception {
            seen.update(seen.value() == null ? 1 : seen.value() + 1);
            context.timerService().registerEventTimeTimer(context.timestamp() + 1200);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<String, Long, Integer>> out)
                throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), timestamp, seen.value()));
        }
    }
}

package penstock.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.windowing.ProcessAllWindowFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.functions.windowing.WindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.triggers.CountTrigger;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.api.windowing.windows.Window;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Programs with windows. */
final class Windows {
    private static final Input IN_TIME = new Input(101, 4, 300, 300);
    private static final Input SPARSE = new Input(103, 6, 300, 300);
    private static final Input LATE = new Input(107, 4, 900, 100);

    static final TypeInformation<Tuple4<String, Long, Long, Integer>> DESCRIBED =
            Types.TUPLE(Types.STRING, Types.LONG, Types.LONG, Types.INT);
    static final ReduceFunction<Tuple3<String, Integer, Long>> ADD =
            (a, b) -> Tuple3.of(a.f0, a.f1 + b.f1, Math.max(a.f2, b.f2));

    private Windows() {}

    static List<Program> programs() {
        List<Program> programs = new ArrayList<>();
        programs.addAll(tumbling());
        programs.addAll(sliding());
        programs.addAll(sessions());
        programs.addAll(late());
        programs.addAll(all());
        return programs;
    }

    private static List<Program> tumbling() {
        return Arrays.asList(
                new Program("tumbling_reduce", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .reduce(ADD)
                                .uid("window")),
                new Program("tumbling_aggregate", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .aggregate(new Mean(), Types.TUPLE(Types.LONG, Types.LONG), Types.DOUBLE)
                                .uid("window")),
                new Program("tumbling_process", 3, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1500), Version.time(400)))
                                .process(new Describe(), DESCRIBED)
                                .uid("window")),
                new Program("tumbling_apply", 2, 7, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .apply(new Apply(), DESCRIBED)
                                .uid("window")),
                new Program("tumbling_sum", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .sum(1)
                                .uid("window")),
                new Program("tumbling_max_by", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .maxBy(1)
                                .uid("window")),
                new Program("tumbling_reduce_process", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .reduce(ADD, new Describe(), DESCRIBED)
                                .uid("window")),
                new Program("tumbling_aggregate_process", 1, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .aggregate(
                                        new Mean(),
                                        new Name(),
                                        Types.TUPLE(Types.LONG, Types.LONG),
                                        Types.DOUBLE,
                                        Types.TUPLE(Types.STRING, Types.LONG, Types.DOUBLE))
                                .uid("window")),
                new Program("tumbling_by_tuple", 2, 128, IN_TIME, records ->
                        records.keyBy(record -> Tuple2.of(record.f0, record.f1 % 2), Types.TUPLE(Types.STRING, Types.INT))
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .reduce(ADD)
                                .uid("window")),
                new Program("tumbling_list", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .aggregate(new Numbers(), Types.LIST(Types.INT), Types.LIST(Types.INT))
                                .uid("window")),
                new Program("tumbling_states", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(2000)))
                                .trigger(CountTrigger.of(1))
                                .process(new Remember(), DESCRIBED)
                                .uid("window")),
                new Program("tumbling_pojo", 2, 128, IN_TIME, records ->
                        records.map(Reading::of)
                                .returns(Types.POJO(Reading.class))
                                .setParallelism(1)
                                .keyBy(reading -> reading.name, Types.STRING)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .sum("number")
                                .uid("window")
                                .map(Reading::record)
                                .returns(Program.RECORD)));
    }

    private static List<Program> sliding() {
        return Arrays.asList(
                new Program("sliding_reduce", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(SlidingEventTimeWindows.of(Version.time(1200), Version.time(400)))
                                .reduce(ADD)
                                .uid("window")),
                new Program("sliding_process", 3, 128, IN_TIME, records ->
                        States.byKey(records)
                                .window(SlidingEventTimeWindows.of(Version.time(1000), Version.time(700)))
                                .process(new Describe(), DESCRIBED)
                                .uid("window")));
    }

    private static List<Program> sessions() {
        return Arrays.asList(
                new Program("session_process", 2, 128, SPARSE, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(500)))
                                .process(new Describe(), DESCRIBED)
                                .uid("window")),
                new Program("session_reduce", 2, 128, SPARSE, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(400)))
                                .reduce(ADD)
                                .uid("window")),
                new Program("session_aggregate", 3, 9, SPARSE, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(600)))
                                .aggregate(new Mean(), Types.TUPLE(Types.LONG, Types.LONG), Types.DOUBLE)
                                .uid("window")),
                new Program("session_dynamic", 2, 128, SPARSE, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.<Tuple3<String, Integer, Long>>withDynamicGap(
                                        record -> 200 + record.f1 * 40))
                                .process(new Describe(), DESCRIBED)
                                .uid("window")));
    }

    private static List<Program> late() {
        OutputTag<Tuple3<String, Integer, Long>> late = new OutputTag<>("late", Program.RECORD);
        return Arrays.asList(
                new Program("late_dropped", 2, 128, LATE, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(500)))
                                .process(new Describe(), DESCRIBED)
                                .uid("window")),
                new Program("late_side_output", 2, 128, LATE, records -> {
                    SingleOutputStreamOperator<Tuple3<String, Integer, Long>> sums =
                            States.byKey(records)
                                    .window(TumblingEventTimeWindows.of(Version.time(500)))
                                    .allowedLateness(Version.time(200))
                                    .sideOutputLateData(late)
                                    .reduce(ADD)
                                    .uid("window");
                    return sums.union(sums.getSideOutput(late));
                }),
                new Program("late_process", 3, 128, LATE, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(500)))
                                .allowedLateness(Version.time(400))
                                .process(new Firings(), DESCRIBED)
                                .uid("window")),
                new Program("late_session", 2, 128, LATE, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(200)))
                                .allowedLateness(Version.time(300))
                                .process(new Describe(), DESCRIBED)
                                .uid("window")));
    }

    private static List<Program> all() {
        return Arrays.asList(
                new Program("all_reduce", 1, 128, IN_TIME, records ->
                        records.windowAll(TumblingEventTimeWindows.of(Version.time(700))).reduce(ADD).uid("window")),
                new Program("all_process", 2, 128, IN_TIME, records ->
                        records.windowAll(SlidingEventTimeWindows.of(Version.time(1000), Version.time(500)))
                                .process(new DescribeAll<>())
                                .returns(Types.TUPLE(Types.INT, Types.INT))
                                .uid("window")),
                new Program("all_count", 2, 128, new Input(109, 4, 0, 0), records ->
                        records.countWindowAll(5)
                                .process(new DescribeAll<GlobalWindow>())
                                .returns(Types.TUPLE(Types.INT, Types.INT))
                                .uid("window")),
                new Program("all_session", 1, 128, IN_TIME, records ->
                        records.filter(record -> record.f1 < 12)
                                .setParallelism(1)
                                .windowAll(EventTimeSessionWindows.withGap(Version.time(300)))
                                .process(new DescribeAll<>())
                                .returns(Types.TUPLE(Types.INT, Types.INT))
                                .uid("window")));
    }

    static int weighted(Iterable<Tuple3<String, Integer, Long>> records) {
        int place = 0;
        int sum = 0;
        for (Tuple3<String, Integer, Long> record : records) {
            place++;
            sum += place * record.f1;
        }
        return sum;
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
            out.collect(Tuple4.of(key, context.window().getStart(), context.window().getEnd(), weighted(records)));
        }
    }

    static final class Apply
            implements WindowFunction<
                    Tuple3<String, Integer, Long>, Tuple4<String, Long, Long, Integer>, String, TimeWindow> {
        @Override
        public void apply(
                String key,
                TimeWindow window,
                Iterable<Tuple3<String, Integer, Long>> records,
                Collector<Tuple4<String, Long, Long, Integer>> out) {
            out.collect(Tuple4.of(key, window.getStart(), window.maxTimestamp(), weighted(records)));
        }
    }

    /** Key, how often this window has fired and how many of its key have, and the sum. */
    static final class Firings
            extends ProcessWindowFunction<
                    Tuple3<String, Integer, Long>, Tuple4<String, Long, Long, Integer>, String, TimeWindow> {
        private static final ValueStateDescriptor<Long> FIRED = new ValueStateDescriptor<>("fired", Types.LONG);
        private static final ValueStateDescriptor<Long> WINDOWS = new ValueStateDescriptor<>("windows", Types.LONG);

        @Override
        public void process(
                String key,
                Context context,
                Iterable<Tuple3<String, Integer, Long>> records,
                Collector<Tuple4<String, Long, Long, Integer>> out)
                throws Exception {
            ValueState<Long> fired = context.windowState().getState(FIRED);
            ValueState<Long> windows = context.globalState().getState(WINDOWS);
            if (fired.value() == null) {
                windows.update(windows.value() == null ? 1 : windows.value() + 1);
            }
            fired.update(fired.value() == null ? 1 : fired.value() + 1);
            out.collect(Tuple4.of(key, fired.value(), windows.value(), weighted(records)));
        }

        @Override
        public void clear(Context context) {
            context.windowState().getState(FIRED).clear();
        }
    }

    /** The number of records, and the sum of the numbers, each weighted by its place. */
    static final class DescribeAll<W extends Window>
            extends ProcessAllWindowFunction<Tuple3<String, Integer, Long>, Tuple2<Integer, Integer>, W> {
        @Override
        public void process(
                Context context, Iterable<Tuple3<String, Integer, Long>> records, Collector<Tuple2<Integer, Integer>> out) {
            int size = 0;
            for (Tuple3<String, Integer, Long> record : records) {
                size++;
            }
            out.collect(Tuple2.of(size, weighted(records)));
        }
    }

    static final class Mean implements AggregateFunction<Tuple3<String, Integer, Long>, Tuple2<Long, Long>, Double> {
        @Override
        public Tuple2<Long, Long> createAccumulator() {
            return Tuple2.of(0L, 0L);
        }

        @Override
        public Tuple2<Long, Long> add(Tuple3<String, Integer, Long> record, Tuple2<Long, Long> so) {
            return Tuple2.of(so.f0 + record.f1, so.f1 + 1);
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

    /** All numbers, in a list. */
    static final class Numbers implements AggregateFunction<Tuple3<String, Integer, Long>, List<Integer>, List<Integer>> {
        @Override
        public List<Integer> createAccumulator() {
            return new ArrayList<>();
        }

        @Override
        public List<Integer> add(Tuple3<String, Integer, Long> record, List<Integer> numbers) {
            numbers.add(record.f1);
            return numbers;
        }

        @Override
        public List<Integer> getResult(List<Integer> numbers) {
            return numbers;
        }

        @Override
        public List<Integer> merge(List<Integer> a, List<Integer> b) {
            a.addAll(b);
            return a;
        }
    }

    /** What windows keep in a list, and their key in a map. */
    static final class Remember
            extends ProcessWindowFunction<
                    Tuple3<String, Integer, Long>, Tuple4<String, Long, Long, Integer>, String, TimeWindow> {
        private static final ListStateDescriptor<Long> FIRINGS = new ListStateDescriptor<>("firings", Types.LONG);
        private static final MapStateDescriptor<Long, Integer> SUMS =
                new MapStateDescriptor<>("sums", Types.LONG, Types.INT);

        @Override
        public void process(
                String key,
                Context context,
                Iterable<Tuple3<String, Integer, Long>> records,
                Collector<Tuple4<String, Long, Long, Integer>> out)
                throws Exception {
            ListState<Long> firings = context.windowState().getListState(FIRINGS);
            MapState<Long, Integer> sums = context.globalState().getMapState(SUMS);
            firings.add((long) weighted(records));
            sums.put(context.window().getStart(), weighted(records));
            long fired = 0;
            for (long sum : firings.get()) {
                fired = fired * 3 + sum;
            }
            int total = 0;
            for (int sum : sums.values()) {
                total += sum;
            }
            out.collect(Tuple4.of(key, context.window().getStart(), fired, total));
        }

        @Override
        public void clear(Context context) {
            context.windowState().getListState(FIRINGS).clear();
        }
    }

    static final class Name extends ProcessWindowFunction<Double, Tuple3<String, Long, Double>, String, TimeWindow> {
        @Override
        public void process(
                String key, Context context, Iterable<Double> means, Collector<Tuple3<String, Long, Double>> out) {
            out.collect(Tuple3.of(key, context.window().getEnd(), means.iterator().next()));
        }
    }
}

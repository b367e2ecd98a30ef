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
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Programs with state of a key, of each kind. */
final class States {
    private static final Input IN_TIME = new Input(7, 5, 300, 300);
    private static final StateTtlConfig CENTURY =
            Version.timeToLive(100L * 365 * 24 * 3600 * 1000)
                    .setUpdateType(StateTtlConfig.UpdateType.OnReadAndWrite)
                    .build();

    private States() {}

    static List<Program> programs() {
        return Arrays.asList(
                new Program("value_count", 2, 128, IN_TIME, records ->
                        byKey(records).process(new Count(), Types.TUPLE(Types.STRING, Types.LONG)).uid("count")),
                new Program("list_sums", 2, 128, new Input(11, 4, 0, 0), records ->
                        byKey(records)
                                .process(new Bundle(), Types.TUPLE(Types.STRING, Types.INT, Types.INT))
                                .uid("bundle")),
                new Program("map_counts", 3, 128, new Input(13, 3, 0, 0), records ->
                        byKey(records)
                                .process(new CountDigits(null), Types.TUPLE(Types.STRING, Types.STRING, Types.LONG))
                                .uid("digits")),
                new Program("reducing_total", 1, 128, new Input(17, 4, 0, 0), records ->
                        byKey(records).process(new Total(null), Types.TUPLE(Types.STRING, Types.INT)).uid("total")),
                new Program("aggregating_mean", 2, 7, new Input(19, 4, 0, 0), records ->
                        byKey(records).process(new RunningMean(null), Types.TUPLE(Types.STRING, Types.DOUBLE)).uid("mean")),
                new Program("several_states", 2, 1000, new Input(31, 4, 0, 0), records ->
                        byKey(records)
                                .process(new Several(), Types.TUPLE(Types.STRING, Types.LONG, Types.INT, Types.INT))
                                .uid("several")),
                new Program("two_operators", 2, 128, IN_TIME, records ->
                        byKey(records)
                                .process(new Count(), Types.TUPLE(Types.STRING, Types.LONG))
                                .uid("count")
                                .keyBy(count -> count.f1 % 3, Types.LONG)
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .reduce((a, b) -> Tuple2.of("sum", a.f1 + b.f1 + 3))
                                .uid("window")
                                .map(sum -> sum.f1)
                                .returns(Types.LONG)),
                new Program("flat_map_average", 2, 128, new Input(37, 3, 0, 0), records ->
                        byKey(records)
                                .flatMap(new Average())
                                .returns(Types.TUPLE(Types.STRING, Types.LONG))
                                .uid("average")),
                new Program("map_numbered", 3, 30, new Input(41, 3, 0, 0), records ->
                        byKey(records)
                                .map(new Number())
                                .returns(Types.TUPLE(Types.STRING, Types.INT, Types.INT))
                                .uid("numbered")),
                new Program("filter_first", 2, 128, new Input(43, 5, 0, 0), records ->
                        records.keyBy(record -> record.f1, Types.INT).filter(new First()).uid("first")),
                new Program("ttl_value", 2, 128, IN_TIME, records ->
                        byKey(records).process(new TtlCount(), Types.TUPLE(Types.STRING, Types.LONG)).uid("count")),
                new Program("ttl_list", 2, 128, new Input(47, 4, 0, 0), records ->
                        byKey(records)
                                .process(new TtlBundle(), Types.TUPLE(Types.STRING, Types.INT, Types.INT))
                                .uid("bundle")),
                new Program("ttl_map", 1, 128, new Input(53, 3, 0, 0), records ->
                        byKey(records)
                                .process(new CountDigits(CENTURY), Types.TUPLE(Types.STRING, Types.STRING, Types.LONG))
                                .uid("digits")),
                new Program("ttl_reducing", 2, 128, new Input(59, 4, 0, 0), records ->
                        byKey(records).process(new Total(CENTURY), Types.TUPLE(Types.STRING, Types.INT)).uid("total")),
                new Program("ttl_aggregating", 2, 128, new Input(269, 4, 0, 0), records ->
                        byKey(records)
                                .process(new RunningMean(CENTURY), Types.TUPLE(Types.STRING, Types.DOUBLE))
                                .uid("mean")),
                new Program("large_state", 2, 128, new Input(271, 3, 0, 0), records ->
                        byKey(records).process(new Grow(), Types.TUPLE(Types.STRING, Types.INT, Types.INT)).uid("grow")),
                new Program("many_keys", 4, 4096, new Input(277, 5, 0, 0), records ->
                        records.keyBy(record -> record.f2 * 7919 % 1_000_003 % 24, Types.LONG)
                                .map(new Number())
                                .returns(Types.TUPLE(Types.STRING, Types.INT, Types.INT))
                                .uid("numbered")),
                new Program("side_output", 2, 128, new Input(281, 4, 0, 0), records -> {
                    SingleOutputStreamOperator<Tuple2<String, Long>> counts =
                            byKey(records)
                                    .process(new Aside(), Types.TUPLE(Types.STRING, Types.LONG))
                                    .uid("aside");
                    return counts.union(counts.getSideOutput(Aside.SIDE));
                }),
                new Program("uid_hash", 2, 128, IN_TIME, records -> {
                    SingleOutputStreamOperator<Tuple2<String, Long>> counts =
                            byKey(records).process(new Count(), Types.TUPLE(Types.STRING, Types.LONG));
                    counts.setUidHash("0123456789abcdef0123456789abcdef");
                    return counts.map(count -> count).returns(Types.TUPLE(Types.STRING, Types.LONG));
                }),
                new Program("without_uids", 2, 128, IN_TIME, records ->
                        records.filter(record -> record.f1 > 2)
                                .setParallelism(1)
                                .keyBy(record -> record.f0, Types.STRING)
                                .process(new Count(), Types.TUPLE(Types.STRING, Types.LONG))
                                .keyBy(count -> count.f0, Types.STRING)
                                .sum(1)
                                .map(count -> count) // an ID depends on what is chained behind: on no sink
                                .returns(Types.TUPLE(Types.STRING, Types.LONG))),
                new Program("pipeline", 3, 128, IN_TIME, records -> {
                    DataStream<Tuple3<String, Integer, Long>> large = byKey(records)
                            .filter(new Rising())
                            .uid("rising");
                    DataStream<Tuple3<String, Integer, Long>> sums = byKey(large)
                            .window(TumblingEventTimeWindows.of(Version.time(500)))
                            .reduce(Windows.ADD)
                            .uid("sums");
                    return sums.keyBy(sum -> sum.f0.equals("k0"), Types.BOOLEAN)
                            .process(new Latest(), Types.TUPLE(Types.BOOLEAN, Types.LONG, Types.INT))
                            .uid("latest");
                }));
    }

    static KeyedStream<Tuple3<String, Integer, Long>, String> byKey(DataStream<Tuple3<String, Integer, Long>> records) {
        return records.keyBy(record -> record.f0, Types.STRING);
    }

    private static <D extends StateDescriptor<?, ?>> D living(StateTtlConfig timeToLive, D descriptor) {
        if (timeToLive != null) {
            descriptor.enableTimeToLive(timeToLive);
        }
        return descriptor;
    }

    static class Count extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple2<String, Long>> {
        private transient ValueState<Long> count;

        @Override
        void open() {
            count = getRuntimeContext().getState(descriptor());
        }

        ValueStateDescriptor<Long> descriptor() {
            return new ValueStateDescriptor<>("count", Types.LONG);
        }

        @Override
        public void processElement(Tuple3<String, Integer, Long> record, Context context, Collector<Tuple2<String, Long>> out)
                throws Exception {
            count.update((count.value() == null ? 0 : count.value()) + 1);
            emit(Tuple2.of(record.f0, count.value()), context, out);
        }

        void emit(Tuple2<String, Long> now, Context context, Collector<Tuple2<String, Long>> out) {
            out.collect(now);
        }
    }

    /** The numbers of a key, until one of them is a multiple of three: then their count, and their weighted sum. */
    static class Bundle
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        private transient ListState<Integer> numbers;

        @Override
        void open() {
            numbers = getRuntimeContext().getListState(descriptor());
        }

        ListStateDescriptor<Integer> descriptor() {
            return new ListStateDescriptor<>("numbers", Types.INT);
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
        private final StateTtlConfig timeToLive;
        private transient MapState<String, Long> counts;

        CountDigits(StateTtlConfig timeToLive) {
            this.timeToLive = timeToLive;
        }

        @Override
        void open() {
            counts = getRuntimeContext().getMapState(
                    living(timeToLive, new MapStateDescriptor<>("counts", Types.STRING, Types.LONG)));
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
        private final StateTtlConfig timeToLive;
        private transient ReducingState<Integer> total;

        Total(StateTtlConfig timeToLive) {
            this.timeToLive = timeToLive;
        }

        @Override
        void open() {
            total = getRuntimeContext().getReducingState(
                    living(timeToLive, new ReducingStateDescriptor<>("total", Integer::sum, Types.INT)));
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
        private final StateTtlConfig timeToLive;
        private transient AggregatingState<Integer, Double> mean;

        RunningMean(StateTtlConfig timeToLive) {
            this.timeToLive = timeToLive;
        }

        @Override
        void open() {
            mean = getRuntimeContext().getAggregatingState(living(
                    timeToLive,
                    new AggregatingStateDescriptor<>("mean", new Mean(), Types.TUPLE(Types.LONG, Types.LONG))));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple2<String, Double>> out)
                throws Exception {
            mean.add(record.f1);
            out.collect(Tuple2.of(record.f0, mean.get()));
        }
    }

    static final class TtlCount extends Count {
        @Override
        ValueStateDescriptor<Long> descriptor() {
            return living(CENTURY, super.descriptor());
        }
    }

    static final class TtlBundle extends Bundle {
        @Override
        ListStateDescriptor<Integer> descriptor() {
            return living(CENTURY, super.descriptor());
        }
    }

    /** The last number, the latest numbers up to four, how often each came, and the largest. */
    static final class Several
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple4<String, Long, Integer, Integer>> {
        private transient ValueState<Long> last;
        private transient ListState<Integer> latest;
        private transient MapState<Integer, Integer> often;
        private transient ReducingState<Integer> largest;

        @Override
        void open() {
            last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Types.LONG));
            latest = getRuntimeContext().getListState(new ListStateDescriptor<>("latest", Types.INT));
            often = getRuntimeContext().getMapState(new MapStateDescriptor<>("often", Types.INT, Types.INT));
            largest = getRuntimeContext().getReducingState(new ReducingStateDescriptor<>("largest", Math::max, Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record,
                Context context,
                Collector<Tuple4<String, Long, Integer, Integer>> out)
                throws Exception {
            List<Integer> numbers = new ArrayList<>();
            for (int number : latest.get()) {
                numbers.add(number);
            }
            numbers.add(record.f1);
            latest.update(numbers.subList(Math.max(0, numbers.size() - 4), numbers.size()));
            int sum = 0;
            for (int number : latest.get()) {
                sum = sum * 2 + number;
            }
            Integer before = often.get(record.f1);
            often.put(record.f1, before == null ? 1 : before + 1);
            largest.add(record.f1);
            long gap = last.value() == null ? -1 : record.f2 - last.value();
            last.update(record.f2);
            out.collect(Tuple4.of(record.f0, gap, sum, largest.get() * 100 + often.get(record.f1)));
        }
    }

    /** The average of each three numbers of a key. */
    static final class Average extends Opened.FlatMap<Tuple3<String, Integer, Long>, Tuple2<String, Long>> {
        private transient ValueState<Tuple2<Long, Long>> sum;

        @Override
        void open() {
            sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Types.TUPLE(Types.LONG, Types.LONG)));
        }

        @Override
        public void flatMap(Tuple3<String, Integer, Long> record, Collector<Tuple2<String, Long>> out) throws Exception {
            Tuple2<Long, Long> so = sum.value() == null ? Tuple2.of(0L, 0L) : sum.value();
            sum.update(Tuple2.of(so.f0 + 1, so.f1 + record.f1));
            if (so.f0 == 2) {
                out.collect(Tuple2.of(record.f0, sum.value().f1 / 3));
                sum.clear();
            }
        }
    }

    static final class Number extends Opened.Map<Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        private transient ValueState<Integer> number;

        @Override
        void open() {
            number = getRuntimeContext().getState(new ValueStateDescriptor<>("number", Types.INT));
        }

        @Override
        public Tuple3<String, Integer, Integer> map(Tuple3<String, Integer, Long> record) throws Exception {
            number.update(number.value() == null ? 0 : number.value() + 1);
            return Tuple3.of(record.f0, record.f1, number.value());
        }
    }

    static final class First extends Opened.Filter<Tuple3<String, Integer, Long>> {
        private transient ValueState<Boolean> seen;

        @Override
        void open() {
            seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.BOOLEAN));
        }

        @Override
        public boolean filter(Tuple3<String, Integer, Long> record) throws Exception {
            boolean first = seen.value() == null;
            seen.update(true);
            return first;
        }
    }

    /** A text that grows until it does not fit beside the metadata of a savepoint. */
    static final class Grow
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        private transient ValueState<String> text;

        @Override
        void open() {
            text = getRuntimeContext().getState(new ValueStateDescriptor<>("text", Types.STRING));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            String before = text.value() == null ? "" : text.value();
            text.update(before + (record.f0 + "\u00fc" + record.f1 + ",").repeat(1000));
            out.collect(Tuple3.of(record.f0, before.length(), before.isEmpty() ? 0 : (int) before.charAt(before.length() - 2)));
        }
    }

    /** Counts, and puts every third count aside. */
    static final class Aside extends Count {
        static final OutputTag<Tuple2<String, Long>> SIDE =
                new OutputTag<>("side", Types.TUPLE(Types.STRING, Types.LONG));

        @Override
        void emit(Tuple2<String, Long> count, Context context, Collector<Tuple2<String, Long>> out) {
            if (count.f1 % 3 == 0) {
                context.output(SIDE, Tuple2.of("side " + count.f0, count.f1));
            } else {
                out.collect(count);
            }
        }
    }

    /** Lets through what is larger than half of the largest. */
    static final class Rising extends Opened.Filter<Tuple3<String, Integer, Long>> {
        private transient ReducingState<Integer> largest;

        @Override
        void open() {
            largest = getRuntimeContext().getReducingState(new ReducingStateDescriptor<>("largest", Math::max, Types.INT));
        }

        @Override
        public boolean filter(Tuple3<String, Integer, Long> record) throws Exception {
            largest.add(record.f1);
            return record.f1 * 2 > largest.get();
        }
    }

    /** Sums by time, in a map, said one second later: what was added by then at this time. */
    static final class Latest
            extends Opened.Process<Boolean, Tuple3<String, Integer, Long>, Tuple3<Boolean, Long, Integer>> {
        private transient MapState<Long, Integer> sums;

        @Override
        void open() {
            sums = getRuntimeContext().getMapState(new MapStateDescriptor<>("sums", Types.LONG, Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> sum, Context context, Collector<Tuple3<Boolean, Long, Integer>> out)
                throws Exception {
            long time = context.timestamp();
            sums.put(time, sums.contains(time) ? sums.get(time) + sum.f1 : sum.f1);
            context.timerService().registerEventTimeTimer(time + 1000);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<Boolean, Long, Integer>> out)
                throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), timestamp, sums.get(timestamp - 1000)));
            sums.remove(timestamp - 1000);
        }
    }
}

package penstock.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.CoGroupFunction;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * Programs with two inputs: the records with even numbers, and those with odd ones. Which input a task reads first is
 * left to chance, so results do not depend on it, or the inputs come in turn.
 */
final class Pairs {
    private static final Input MIXED = new Input(211, 3, 300, 300);
    private static final Input IN_TURN = Input.inTurn(223, 4);
    private static final MapStateDescriptor<String, Integer> RULES =
            new MapStateDescriptor<>("rules", Types.STRING, Types.INT);
    private static final MapStateDescriptor<Integer, Tuple2<String, Long>> PAST =
            new MapStateDescriptor<>("past", Types.INT, Types.TUPLE(Types.STRING, Types.LONG));
    private static final TypeInformation<Tuple3<String, Integer, Integer>> RESULT =
            Types.TUPLE(Types.STRING, Types.INT, Types.INT);

    private Pairs() {}

    static List<Program> programs() {
        List<Program> programs = new ArrayList<>();
        programs.addAll(joins());
        programs.addAll(connected());
        programs.addAll(broadcasts());
        return programs;
    }

    private static List<Program> joins() {
        return Arrays.asList(
                new Program("interval_join", 2, 128, MIXED, records ->
                        States.byKey(evens(records))
                                .intervalJoin(States.byKey(odds(records)))
                                .between(Version.time(-200), Version.time(500))
                                .process(new Pair(), Types.TUPLE(Types.STRING, Types.INT, Types.INT, Types.LONG))
                                .uid("join")),
                new Program("interval_join_exclusive", 3, 128, MIXED, records ->
                        States.byKey(evens(records))
                                .intervalJoin(States.byKey(odds(records)))
                                .between(Version.time(0), Version.time(800))
                                .lowerBoundExclusive()
                                .upperBoundExclusive()
                                .process(new Pair(), Types.TUPLE(Types.STRING, Types.INT, Types.INT, Types.LONG))
                                .uid("join")),
                joined("join_tumbling", 2, TumblingEventTimeWindows.of(Version.time(1000))),
                joined("join_sliding", 3, SlidingEventTimeWindows.of(Version.time(1000), Version.time(500))),
                joined("join_session", 2, EventTimeSessionWindows.withGap(Version.time(300))),
                new Program("co_group_session", 3, 128, MIXED, records ->
                        ((SingleOutputStreamOperator<Tuple3<String, Integer, Integer>>)
                                        evens(records)
                                                .coGroup(odds(records))
                                                .where(record -> record.f0, Types.STRING)
                                                .equalTo(record -> record.f0, Types.STRING)
                                                .window(EventTimeSessionWindows.withGap(Version.time(300)))
                                                .apply(new Group(), RESULT))
                                .uid("co-group")),
                new Program("co_group", 2, 128, MIXED, records ->
                        ((SingleOutputStreamOperator<Tuple3<String, Integer, Integer>>)
                                        evens(records)
                                                .coGroup(odds(records))
                                                .where(record -> record.f0, Types.STRING)
                                                .equalTo(record -> record.f0, Types.STRING)
                                                .window(TumblingEventTimeWindows.of(Version.time(800)))
                                                .apply(new Group(), RESULT))
                                .uid("co-group")));
    }

    private static Program joined(
            String name, int parallelism, WindowAssigner<Object, TimeWindow> assigner) {
        JoinFunction<Tuple3<String, Integer, Long>, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> pair =
                (left, right) -> Tuple3.of(left.f0, left.f1, right.f1);
        return new Program(name, parallelism, 128, MIXED, records ->
                ((SingleOutputStreamOperator<Tuple3<String, Integer, Integer>>)
                                evens(records)
                                        .join(odds(records))
                                        .where(record -> record.f0, Types.STRING)
                                        .equalTo(record -> record.f0, Types.STRING)
                                        .window(assigner)
                                        .apply(pair, RESULT))
                        .uid("join"));
    }

    private static List<Program> connected() {
        return Arrays.asList(
                new Program("co_process", 2, 128, IN_TURN, records ->
                        States.byKey(evens(records))
                                .connect(States.byKey(odds(records)))
                                .process(new Between(), RESULT)
                                .uid("between")),
                new Program("co_process_timers", 3, 128, MIXED, records ->
                        States.byKey(evens(records))
                                .connect(States.byKey(odds(records)))
                                .process(new Balance(), RESULT)
                                .uid("balance")),
                new Program("co_flat_map", 2, 128, IN_TURN, records ->
                        evens(records)
                                .connect(odds(records))
                                .keyBy(record -> record.f0, record -> record.f0, Types.STRING)
                                .flatMap(new Differences())
                                .returns(RESULT)
                                .uid("differences")),
                new Program("union_window", 2, 128, MIXED, records ->
                        States.byKey(evens(records).union(odds(records)))
                                .window(TumblingEventTimeWindows.of(Version.time(1000)))
                                .reduce(Windows.ADD)
                                .uid("window")));
    }

    private static List<Program> broadcasts() {
        return Arrays.asList(
                new Program("broadcast", 2, 128, IN_TURN, records ->
                        evens(records)
                                .connect(odds(records).broadcast(RULES))
                                .process(new Look(), RESULT)
                                .uid("look")),
                new Program("broadcast_two", 2, 128, IN_TURN, records ->
                        evens(records)
                                .connect(odds(records).broadcast(RULES, PAST))
                                .process(new LookBack(), RESULT)
                                .uid("look")),
                new Program("broadcast_applied", 2, 128, IN_TURN, records ->
                        States.byKey(evens(records))
                                .connect(odds(records).broadcast(RULES))
                                .process(new Collect(), RESULT)
                                .uid("collect")),
                new Program("broadcast_keyed", 3, 128, IN_TURN, records ->
                        States.byKey(evens(records))
                                .connect(odds(records).broadcast(RULES))
                                .process(new Apply(), RESULT)
                                .uid("apply")));
    }

    private static DataStream<Tuple3<String, Integer, Long>> evens(DataStream<Tuple3<String, Integer, Long>> records) {
        return records.filter(record -> record.f1 % 2 == 0).setParallelism(1).uid("evens");
    }

    private static DataStream<Tuple3<String, Integer, Long>> odds(DataStream<Tuple3<String, Integer, Long>> records) {
        return records.filter(record -> record.f1 % 2 != 0).setParallelism(1).uid("odds");
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

    /** A window's sum of the one side, and its number of records on the other. */
    static final class Group
            implements CoGroupFunction<
                    Tuple3<String, Integer, Long>, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        @Override
        public void coGroup(
                Iterable<Tuple3<String, Integer, Long>> evens,
                Iterable<Tuple3<String, Integer, Long>> odds,
                Collector<Tuple3<String, Integer, Integer>> out) {
            String key = null;
            int sum = 0;
            for (Tuple3<String, Integer, Long> record : evens) {
                key = record.f0;
                sum += record.f1;
            }
            int count = 0;
            for (Tuple3<String, Integer, Long> record : odds) {
                key = record.f0;
                count++;
            }
            out.collect(Tuple3.of(key, sum, count));
        }
    }

    /** Of each even number the last odd one; and when an odd number comes, the sum of the even ones since the last. */
    static final class Between
            extends Opened.CoProcess<
                    String,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Integer>> {
        private transient ValueState<Integer> last;
        private transient ListState<Integer> waiting;

        @Override
        void open() {
            last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Types.INT));
            waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", Types.INT));
        }

        @Override
        public void processElement1(
                Tuple3<String, Integer, Long> even, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            waiting.add(even.f1);
            out.collect(Tuple3.of(even.f0, even.f1, last.value() == null ? -1 : last.value()));
        }

        @Override
        public void processElement2(
                Tuple3<String, Integer, Long> odd, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            int sum = 0;
            for (int even : waiting.get()) {
                sum += even;
            }
            waiting.clear();
            last.update(odd.f1);
            out.collect(Tuple3.of(odd.f0, odd.f1, sum));
        }
    }

    /** At the end of all time: the sum of the even numbers, and of the odd ones. */
    static final class Balance
            extends Opened.CoProcess<
                    String,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Integer>> {
        private transient ValueState<Tuple2<Integer, Integer>> sums;

        @Override
        void open() {
            sums = getRuntimeContext().getState(
                    new ValueStateDescriptor<>("sums", Types.TUPLE(Types.INT, Types.INT)));
        }

        @Override
        public void processElement1(
                Tuple3<String, Integer, Long> even, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            add(even.f1, 0, context);
        }

        @Override
        public void processElement2(
                Tuple3<String, Integer, Long> odd, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            add(0, odd.f1, context);
        }

        private void add(int even, int odd, Context context) throws Exception {
            Tuple2<Integer, Integer> so = sums.value() == null ? Tuple2.of(0, 0) : sums.value();
            sums.update(Tuple2.of(so.f0 + even, so.f1 + odd));
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE - 1);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), sums.value().f0, sums.value().f1));
        }
    }

    /** The difference to the last number of the other side. */
    static final class Differences
            extends Opened.CoFlatMap<
                    Tuple3<String, Integer, Long>, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        private transient ValueState<Integer> even;
        private transient ValueState<Integer> odd;

        @Override
        void open() {
            even = getRuntimeContext().getState(new ValueStateDescriptor<>("even", Types.INT));
            odd = getRuntimeContext().getState(new ValueStateDescriptor<>("odd", Types.INT));
        }

        @Override
        public void flatMap1(Tuple3<String, Integer, Long> record, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            even.update(record.f1);
            if (odd.value() != null) {
                out.collect(Tuple3.of(record.f0, record.f1, record.f1 - odd.value()));
            }
        }

        @Override
        public void flatMap2(Tuple3<String, Integer, Long> record, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            odd.update(record.f1);
            if (even.value() != null) {
                out.collect(Tuple3.of(record.f0, record.f1, record.f1 - even.value()));
            }
        }
    }

    /** Of each even number its key's rule: the last odd number. */
    static final class Look
            extends BroadcastProcessFunction<
                    Tuple3<String, Integer, Long>, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        @Override
        public void processElement(
                Tuple3<String, Integer, Long> even,
                ReadOnlyContext context,
                Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            Integer rule = context.getBroadcastState(RULES).get(even.f0);
            out.collect(Tuple3.of(even.f0, even.f1, rule == null ? -1 : rule));
        }

        @Override
        public void processBroadcastElement(
                Tuple3<String, Integer, Long> odd, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            context.getBroadcastState(RULES).put(odd.f0, odd.f1);
        }
    }

    /** Of each even number the sum of all rules, and the time since the rule whose number is one more. */
    static final class LookBack
            extends BroadcastProcessFunction<
                    Tuple3<String, Integer, Long>, Tuple3<String, Integer, Long>, Tuple3<String, Integer, Integer>> {
        @Override
        public void processElement(
                Tuple3<String, Integer, Long> even,
                ReadOnlyContext context,
                Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            int rules = 0;
            for (Map.Entry<String, Integer> rule : context.getBroadcastState(RULES).immutableEntries()) {
                rules += rule.getValue();
            }
            Tuple2<String, Long> past = context.getBroadcastState(PAST).get(even.f1 + 1);
            out.collect(Tuple3.of(past == null ? even.f0 : even.f0 + past.f0, rules, past == null ? -1 : (int) (even.f2 - past.f1)));
        }

        @Override
        public void processBroadcastElement(
                Tuple3<String, Integer, Long> odd, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            context.getBroadcastState(RULES).put(odd.f0, odd.f1);
            context.getBroadcastState(PAST).put(odd.f1, Tuple2.of(odd.f0, odd.f2));
        }
    }

    /** Sums even numbers by key; an odd one above ten takes all sums of all keys and leaves its rule. */
    static final class Collect
            extends Opened.Broadcast<
                    String,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Integer>> {
        private static final ValueStateDescriptor<Integer> SUM = new ValueStateDescriptor<>("sum", Types.INT);

        @Override
        void open() {}

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> even,
                ReadOnlyContext context,
                Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            ValueState<Integer> sum = getRuntimeContext().getState(SUM);
            sum.update(sum.value() == null ? even.f1 : sum.value() + even.f1);
            Integer rule = context.getBroadcastState(RULES).get("last");
            out.collect(Tuple3.of(even.f0, sum.value(), rule == null ? -1 : rule));
        }

        @Override
        public void processBroadcastElement(
                Tuple3<String, Integer, Long> odd, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            if (odd.f1 > 10) {
                context.getBroadcastState(RULES).put("last", odd.f1);
                context.applyToKeyedState(SUM, (key, sum) -> {
                    out.collect(Tuple3.of("collected " + key, sum.value(), odd.f1));
                    sum.clear();
                });
            }
        }
    }

    /** Counts the even numbers of a key, and says the count with the sum of all rules, at once and 1 second later. */
    static final class Apply
            extends Opened.Broadcast<
                    String,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Long>,
                    Tuple3<String, Integer, Integer>> {
        private transient ValueState<Integer> count;

        @Override
        void open() {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> even,
                ReadOnlyContext context,
                Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            count.update(count.value() == null ? 1 : count.value() + 1);
            context.timerService().registerEventTimeTimer(even.f2 + 1000);
            int sum = 0;
            for (Map.Entry<String, Integer> rule : context.getBroadcastState(RULES).immutableEntries()) {
                sum += rule.getValue();
            }
            out.collect(Tuple3.of(even.f0, count.value(), sum));
        }

        @Override
        public void processBroadcastElement(
                Tuple3<String, Integer, Long> odd, Context context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            if (odd.f1 % 5 == 0) {
                context.getBroadcastState(RULES).remove(odd.f0);
            } else {
                context.getBroadcastState(RULES).put(odd.f0, odd.f1);
            }
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<String, Integer, Integer>> out)
                throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), -count.value(), (int) (timestamp % 1000)));
        }
    }
}

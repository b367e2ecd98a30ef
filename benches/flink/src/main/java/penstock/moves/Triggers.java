package penstock.moves;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.GlobalWindows;
import org.apache.flink.streaming.api.windowing.assigners.ProcessingTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingProcessingTimeWindows;
import org.apache.flink.streaming.api.windowing.evictors.CountEvictor;
import org.apache.flink.streaming.api.windowing.evictors.DeltaEvictor;
import org.apache.flink.streaming.api.windowing.evictors.TimeEvictor;
import org.apache.flink.streaming.api.windowing.triggers.ContinuousEventTimeTrigger;
import org.apache.flink.streaming.api.windowing.triggers.CountTrigger;
import org.apache.flink.streaming.api.windowing.triggers.DeltaTrigger;
import org.apache.flink.streaming.api.windowing.triggers.PurgingTrigger;
import org.apache.flink.streaming.api.windowing.triggers.Trigger;
import org.apache.flink.streaming.api.windowing.triggers.TriggerResult;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.api.windowing.windows.Window;
import org.apache.flink.util.Collector;

/** Programs with windows that fire otherwise than at their end, or evict. */
final class Triggers {
    private static final Input RECORDS = new Input(131, 3, 300, 300);
    private static final Input IN_ORDER = new Input(137, 3, 0, 0);
    private static final long CENTURIES = 300L * 365 * 24 * 3600 * 1000;

    private Triggers() {}

    static List<Program> programs() {
        return Arrays.asList(
                new Program("trigger_count", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(2000)))
                                .trigger(CountTrigger.of(2))
                                .reduce(Windows.ADD)
                                .uid("window")),
                new Program("trigger_purging", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(SlidingEventTimeWindows.of(Version.time(2000), Version.time(1000)))
                                .trigger(PurgingTrigger.of(CountTrigger.of(3)))
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("trigger_continuous", 3, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(3000)))
                                .trigger(ContinuousEventTimeTrigger.of(Version.time(400)))
                                .reduce(Windows.ADD)
                                .uid("window")),
                new Program("trigger_session_count", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(500)))
                                .trigger(CountTrigger.of(3))
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("trigger_own", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(2000)))
                                .trigger(new Early())
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("trigger_global_count", 2, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .window(GlobalWindows.create())
                                .trigger(CountTrigger.of(4))
                                .reduce(Windows.ADD)
                                .uid("window")),
                new Program("trigger_global_delta", 2, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .window(GlobalWindows.create())
                                .trigger(DeltaTrigger.of(
                                        5,
                                        (a, b) -> Math.abs(b.f1 - a.f1),
                                        Program.RECORD.createSerializer(Version.serializers())))
                                .process(new Describe<>(), Types.TUPLE(Types.STRING, Types.INT))
                                .uid("window")),
                new Program("trigger_processing_count", 2, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .window(TumblingProcessingTimeWindows.of(Version.time(CENTURIES)))
                                .trigger(CountTrigger.of(3))
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("trigger_processing_session", 2, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .window(ProcessingTimeSessionWindows.withGap(Version.time(CENTURIES)))
                                .trigger(CountTrigger.of(3))
                                .process(new Describe<>(), Types.TUPLE(Types.STRING, Types.INT))
                                .uid("window")),
                new Program("trigger_own_merging", 3, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(400)))
                                .trigger(new Enough())
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("count_window", 2, 128, IN_ORDER, records ->
                        States.byKey(records).countWindow(3).reduce(Windows.ADD).uid("window")),
                new Program("count_window_process", 3, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .countWindow(4)
                                .process(new Describe<>(), Types.TUPLE(Types.STRING, Types.INT))
                                .uid("window")),
                new Program("count_window_sliding", 2, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .countWindow(5, 2)
                                .process(new Describe<>(), Types.TUPLE(Types.STRING, Types.INT))
                                .uid("window")),
                new Program("evictor_count", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(1500)))
                                .evictor(CountEvictor.of(2))
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("evictor_after", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(TumblingEventTimeWindows.of(Version.time(3000)))
                                .trigger(CountTrigger.of(3))
                                .evictor(CountEvictor.of(1, true))
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("evictor_session", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(EventTimeSessionWindows.withGap(Version.time(400)))
                                .evictor(TimeEvictor.of(Version.time(300)))
                                .process(new Windows.Describe(), Windows.DESCRIBED)
                                .uid("window")),
                new Program("evictor_time", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .window(SlidingEventTimeWindows.of(Version.time(2000), Version.time(1000)))
                                .evictor(TimeEvictor.of(Version.time(600)))
                                .reduce(Windows.ADD)
                                .uid("window")),
                new Program("evictor_delta", 3, 128, IN_ORDER, records ->
                        States.byKey(records)
                                .window(GlobalWindows.create())
                                .trigger(CountTrigger.of(3))
                                .evictor(DeltaEvictor.of(6, (a, b) -> Math.abs(b.f1 - a.f1)))
                                .process(new Describe<>(), Types.TUPLE(Types.STRING, Types.INT))
                                .uid("window")));
    }

    /** Key, and the sum of the numbers, each weighted by its place. */
    static final class Describe<W extends Window>
            extends ProcessWindowFunction<Tuple3<String, Integer, Long>, Tuple2<String, Integer>, String, W> {
        @Override
        public void process(
                String key,
                Context context,
                Iterable<Tuple3<String, Integer, Long>> records,
                Collector<Tuple2<String, Integer>> out) {
            out.collect(Tuple2.of(key, Windows.weighted(records)));
        }
    }

    /** Fires when the numbers of a window have come to twenty, anew from there on; 300 ms after its first record; and at its end. */
    static final class Early extends Trigger<Tuple3<String, Integer, Long>, TimeWindow> {
        private final ReducingStateDescriptor<Integer> sum = new ReducingStateDescriptor<>("sum", Integer::sum, Types.INT);
        private final ValueStateDescriptor<Long> early = new ValueStateDescriptor<>("early", Types.LONG);

        @Override
        public TriggerResult onElement(
                Tuple3<String, Integer, Long> record, long timestamp, TimeWindow window, TriggerContext context)
                throws Exception {
            ValueState<Long> time = context.getPartitionedState(early);
            if (time.value() == null) {
                time.update(timestamp + 300);
                context.registerEventTimeTimer(timestamp + 300);
                context.registerEventTimeTimer(window.maxTimestamp());
            }
            ReducingState<Integer> numbers = context.getPartitionedState(sum);
            numbers.add(record.f1);
            if (numbers.get() < 20) {
                return TriggerResult.CONTINUE;
            }
            numbers.clear();
            return TriggerResult.FIRE;
        }

        @Override
        public TriggerResult onEventTime(long time, TimeWindow window, TriggerContext context) {
            return TriggerResult.FIRE;
        }

        @Override
        public TriggerResult onProcessingTime(long time, TimeWindow window, TriggerContext context) {
            return TriggerResult.CONTINUE;
        }

        @Override
        public void clear(TimeWindow window, TriggerContext context) throws Exception {
            Long time = context.getPartitionedState(early).value();
            if (time != null) {
                context.deleteEventTimeTimer(time);
            }
            context.deleteEventTimeTimer(window.maxTimestamp());
            context.getPartitionedState(early).clear();
            context.getPartitionedState(sum).clear();
        }
    }

    /** For sessions: fires whenever their numbers have come to another thirty, and at their end. */
    static final class Enough extends Trigger<Tuple3<String, Integer, Long>, TimeWindow> {
        private final ReducingStateDescriptor<Integer> sum = new ReducingStateDescriptor<>("sum", Integer::sum, Types.INT);

        @Override
        public TriggerResult onElement(
                Tuple3<String, Integer, Long> record, long timestamp, TimeWindow window, TriggerContext context)
                throws Exception {
            context.registerEventTimeTimer(window.maxTimestamp());
            ReducingState<Integer> numbers = context.getPartitionedState(sum);
            numbers.add(record.f1);
            if (numbers.get() < 30) {
                return TriggerResult.CONTINUE;
            }
            numbers.add(-30);
            return TriggerResult.FIRE;
        }

        @Override
        public TriggerResult onEventTime(long time, TimeWindow window, TriggerContext context) {
            return time == window.maxTimestamp() ? TriggerResult.FIRE : TriggerResult.CONTINUE;
        }

        @Override
        public TriggerResult onProcessingTime(long time, TimeWindow window, TriggerContext context) {
            return TriggerResult.CONTINUE;
        }

        @Override
        public boolean canMerge() {
            return true;
        }

        @Override
        public void onMerge(TimeWindow window, OnMergeContext context) throws Exception {
            context.mergePartitionedState(sum);
            context.registerEventTimeTimer(window.maxTimestamp());
        }

        @Override
        public void clear(TimeWindow window, TriggerContext context) throws Exception {
            context.deleteEventTimeTimer(window.maxTimestamp());
            context.getPartitionedState(sum).clear();
        }
    }
}

package penstock.moves;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.util.Collector;

/** Programs with timers. */
final class Timers {
    private static final Input IN_TIME = new Input(61, 5, 300, 300);

    private Timers() {}

    static List<Program> programs() {
        return Arrays.asList(
                new Program("timers_event", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .process(new Later(), Types.TUPLE(Types.STRING, Types.LONG, Types.INT))
                                .uid("later")),
                new Program("timers_deleted", 3, 128, IN_TIME, records ->
                        States.byKey(records)
                                .process(new Absent(), Types.TUPLE(Types.STRING, Types.LONG, Types.INT))
                                .uid("absent")),
                new Program("timers_several", 2, 128, new Input(67, 3, 300, 300), records ->
                        records.keyBy(record -> record.f1 % 4, Types.INT)
                                .process(new Often(), Types.TUPLE(Types.INT, Types.LONG, Types.INT))
                                .uid("often")),
                new Program("timers_processing", 2, 128, IN_TIME, records ->
                        States.byKey(records)
                                .process(new Never(), Types.TUPLE(Types.STRING, Types.LONG, Types.INT))
                                .uid("never")));
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

    /** Says who has not come for half a second, and how often before; the timer of each record replaces the last one. */
    static final class Absent
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, Long, Integer>> {
        private transient ValueState<Long> alarm;
        private transient ValueState<Integer> seen;

        @Override
        void open() {
            alarm = getRuntimeContext().getState(new ValueStateDescriptor<>("alarm", Types.LONG));
            seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<String, Long, Integer>> out)
                throws Exception {
            if (alarm.value() != null) {
                context.timerService().deleteEventTimeTimer(alarm.value());
            }
            alarm.update(context.timestamp() + 500);
            context.timerService().registerEventTimeTimer(alarm.value());
            seen.update(seen.value() == null ? 1 : seen.value() + 1);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<String, Long, Integer>> out)
                throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), timestamp, seen.value()));
            alarm.clear();
            seen.clear();
        }
    }

    /** Several timers a record, of which some are set anew when they fire; one waits for the end of all time. */
    static final class Often extends Opened.Process<Integer, Tuple3<String, Integer, Long>, Tuple3<Integer, Long, Integer>> {
        private transient ValueState<Integer> fired;

        @Override
        void open() {
            fired = getRuntimeContext().getState(new ValueStateDescriptor<>("fired", Types.INT));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<Integer, Long, Integer>> out) {
            context.timerService().registerEventTimeTimer(record.f2 + 100);
            context.timerService().registerEventTimeTimer(record.f2 / 1000 * 1000 + 2000);
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<Integer, Long, Integer>> out)
                throws Exception {
            fired.update(fired.value() == null ? 1 : fired.value() + 1);
            out.collect(Tuple3.of(context.getCurrentKey(), timestamp, fired.value()));
            if (timestamp < 6000 && timestamp % 1000 == 0) {
                context.timerService().registerEventTimeTimer(timestamp + 700);
            }
        }
    }

    /** Timers by the clock that no test lives to see, and some by event time beside them. */
    static final class Never
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, Long, Integer>> {
        private static final long FAR = 32_503_680_000_000L;
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
            context.timerService().registerProcessingTimeTimer(FAR + record.f1);
            if (record.f1 % 2 == 0) {
                context.timerService().deleteProcessingTimeTimer(FAR + record.f1 + 1);
                context.timerService().registerEventTimeTimer(record.f2 + 1000);
            }
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<String, Long, Integer>> out)
                throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), timestamp, seen.value()));
        }
    }
}

package penstock.moves;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/** Programs that count by keys of other types than texts, and set a timer for each. */
final class Keys {
    private static final Input RECORDS = new Input(71, 5, 300, 300);

    private Keys() {}

    static List<Program> programs() {
        return Arrays.asList(
                counted("key_text", 3, 128, record -> "gr\u00fcn \u20ac " + record.f0 + record.f1 % 4, Types.STRING),
                counted("key_int", 2, 128, record -> record.f1 - 10, Types.INT),
                counted("key_long", 3, 128, record -> (record.f1 - 10) * 10_000_000_000L, Types.LONG),
                counted("key_short", 2, 128, record -> (short) (record.f1 * 100 - 1000), Types.SHORT),
                counted("key_byte", 2, 128, record -> (byte) (record.f1 * 7 - 70), Types.BYTE),
                counted("key_boolean", 2, 128, record -> record.f1 % 2 == 0, Types.BOOLEAN),
                counted("key_double", 2, 50, record -> record.f1 / 4.0 - 2, Types.DOUBLE),
                counted("key_decimal", 2, 128, record -> new BigDecimal(record.f1).movePointLeft(2), Types.BIG_DEC),
                counted("key_tuple", 3, 128, record -> Tuple2.of(record.f0, record.f1 % 3),
                        Types.TUPLE(Types.STRING, Types.INT)),
                counted("key_nested", 2, 128, record -> Tuple2.of(Tuple2.of(record.f0, record.f1 % 2 == 0), record.f2 / 2000),
                        Types.TUPLE(Types.TUPLE(Types.STRING, Types.BOOLEAN), Types.LONG)),
                counted("key_row", 2, 128, record -> Row.of(record.f0, record.f1 % 3),
                        Types.ROW(Types.STRING, Types.INT)));
    }

    private static <K> Program counted(
            String name,
            int parallelism,
            int maxParallelism,
            KeySelector<Tuple3<String, Integer, Long>, K> key,
            TypeInformation<K> type) {
        return new Program(name, parallelism, maxParallelism, RECORDS, records ->
                records.keyBy(key, type).process(new Count<>(), Types.TUPLE(type, Types.LONG, Types.LONG)).uid("count"));
    }

    static final class Count<K> extends Opened.Process<K, Tuple3<String, Integer, Long>, Tuple3<K, Long, Long>> {
        private transient ValueState<Long> count;

        @Override
        void open() {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<K, Long, Long>> out)
                throws Exception {
            count.update((count.value() == null ? 0 : count.value()) + 1);
            context.timerService().registerEventTimeTimer(record.f2 / 3000 * 3000 + 2999);
            out.collect(Tuple3.of(context.getCurrentKey(), -1L, count.value()));
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple3<K, Long, Long>> out) throws Exception {
            out.collect(Tuple3.of(context.getCurrentKey(), timestamp, count.value()));
        }
    }
}

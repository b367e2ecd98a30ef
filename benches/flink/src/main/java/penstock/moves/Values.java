package penstock.moves;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.BasicArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/**
 * Programs whose state has values of many types: each record gives the value that its key had before, and leaves one made
 * of itself: alone, in a list with the one before, and in a map under a number.
 */
final class Values {
    private static final Input RECORDS = new Input(73, 6, 0, 0);

    private Values() {}

    static List<Program> programs() {
        return Arrays.asList(
                kept("values_boolean", record -> record.f1 % 3 == 0, Types.BOOLEAN),
                kept("values_byte", record -> (byte) (record.f1 * 13 - 128), Types.BYTE),
                kept("values_short", record -> (short) (record.f1 * 1000 - 10000), Types.SHORT),
                kept("values_float", record -> record.f1 / 4.0f, Types.FLOAT),
                kept("values_double", record -> record.f1 / 7.0, Types.DOUBLE),
                kept("values_integer", record -> BigInteger.valueOf(record.f2).pow(7).negate(), Types.BIG_INT),
                kept("values_decimal", record -> BigDecimal.valueOf(record.f2, record.f1 % 5), Types.BIG_DEC),
                kept("values_text", record -> "\u20ac\uD83D\uDE00" + record, Types.STRING),
                kept("values_instant", record -> Instant.ofEpochMilli(record.f2 * 1_000_003), Types.INSTANT),
                kept("values_date", record -> new Date(record.f1 * 86_400_000L * 400), Types.SQL_DATE),
                kept("values_timestamp", record -> new Timestamp(record.f2 * 1_000_003), Types.SQL_TIMESTAMP),
                kept("values_bytes", record -> new byte[] {(byte) (int) record.f1, -1, 0},
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO),
                kept("values_ints", record -> new int[] {record.f1, -record.f1},
                        PrimitiveArrayTypeInfo.INT_PRIMITIVE_ARRAY_TYPE_INFO),
                kept("values_texts", record -> new String[] {record.f0, "x" + record.f1},
                        BasicArrayTypeInfo.STRING_ARRAY_TYPE_INFO),
                kept("values_list", record -> Arrays.asList(record.f0, "y" + record.f1), Types.LIST(Types.STRING)),
                kept("values_map", record -> Collections.singletonMap(record.f0, record.f1), Types.MAP(Types.STRING, Types.INT)),
                kept("values_tuple", record -> Tuple2.of(Tuple2.of(record.f0, record.f1), record.f1 / 2.0),
                        Types.TUPLE(Types.TUPLE(Types.STRING, Types.INT), Types.DOUBLE)),
                kept("values_row", record -> Row.of(record.f0, record.f1 % 3 == 0 ? null : record.f1, record.f2),
                        Types.ROW_NAMED(new String[] {"name", "number", "time"}, Types.STRING, Types.INT, Types.LONG)),
                kept("values_pojo", Reading::of, Types.POJO(Reading.class)));
    }

    private static <V> Program kept(String name, MapFunction<Tuple3<String, Integer, Long>, V> value, TypeInformation<V> type) {
        return new Program(name, 2, 128, RECORDS, records ->
                States.byKey(records)
                        .process(new Keep<>(value, type), Types.TUPLE(Types.STRING, Types.STRING, type))
                        .uid("keep"));
    }

    static final class Keep<V>
            extends Opened.Process<String, Tuple3<String, Integer, Long>, Tuple3<String, String, V>> {
        private final MapFunction<Tuple3<String, Integer, Long>, V> value;
        private final TypeInformation<V> type;
        private transient ValueState<V> one;
        private transient ListState<V> two;
        private transient MapState<Integer, V> many;

        Keep(MapFunction<Tuple3<String, Integer, Long>, V> value, TypeInformation<V> type) {
            this.value = value;
            this.type = type;
        }

        @Override
        void open() {
            one = getRuntimeContext().getState(new ValueStateDescriptor<>("one", type));
            two = getRuntimeContext().getListState(new ListStateDescriptor<>("two", type));
            many = getRuntimeContext().getMapState(new MapStateDescriptor<>("many", Types.INT, type));
        }

        @Override
        public void processElement(
                Tuple3<String, Integer, Long> record, Context context, Collector<Tuple3<String, String, V>> out)
                throws Exception {
            V now = value.map(record);
            if (one.value() != null) {
                out.collect(Tuple3.of(record.f0, "one", one.value()));
                two.update(Arrays.asList(one.value(), now));
            }
            one.update(now);
            for (V kept : two.get()) {
                out.collect(Tuple3.of(record.f0, "two", kept));
            }
            Map<Integer, V> all = new HashMap<>();
            for (Map.Entry<Integer, V> entry : many.entries()) {
                all.put(entry.getKey(), entry.getValue());
            }
            V before = all.get(record.f1 % 3);
            if (before != null) {
                out.collect(Tuple3.of(record.f0, "many " + all.size(), before));
            }
            many.put(record.f1 % 3, now);
        }
    }
}

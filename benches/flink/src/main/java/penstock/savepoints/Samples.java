package penstock.savepoints;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.*;
import org.apache.flink.api.common.typeutils.base.array.*;
import org.apache.flink.api.java.tuple.Tuple0;
import org.apache.flink.api.java.tuple.Tuple1;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.typeutils.runtime.*;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory;
import org.apache.flink.runtime.state.ttl.TtlValue;
import org.apache.flink.streaming.api.operators.co.IntervalJoinOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.*;

/** Prints, for each serializer, its snapshot, and values with their bytes: a line of JSON each. */
public final class Samples {
    private Samples() {}

    public static void main(String[] arguments) throws Exception {
        for (Sample sample : all()) {
            DataOutputSerializer out = new DataOutputSerializer(64);
            List<Object> values = new ArrayList<>();
            for (Object value : sample.values) {
                out.clear();
                sample.serializer.serialize(value, out);
                byte[] bytes = out.getCopyOfBuffer();
                Object read = sample.serializer.deserialize(new DataInputDeserializer(bytes));
                values.add(Json.object("bytes", Json.plain(bytes), "value", Json.plain(read)));
            }
            out.clear();
            TypeSerializerSnapshot.writeVersionedSnapshot(out, sample.serializer.snapshotConfiguration());
            System.out.println(
                    Json.text(
                            Json.object(
                                    "name", sample.name,
                                    "flink", Version.NAME,
                                    "length", sample.serializer.getLength(),
                                    "snapshot", Json.plain(out.getCopyOfBuffer()),
                                    "values", values)));
        }
    }

    static List<Sample> all() {
        List<Sample> samples = new ArrayList<>();
        samples.addAll(numbers());
        samples.addAll(scalars());
        samples.addAll(arrays());
        samples.addAll(composites());
        samples.addAll(ofState());
        samples.addAll(Version.samples());
        return samples;
    }

    private static List<Sample> numbers() {
        return Arrays.asList(
                new Sample("boolean", BooleanSerializer.INSTANCE, true, false),
                new Sample("byte", ByteSerializer.INSTANCE, (byte) -128, (byte) 127),
                new Sample("short", ShortSerializer.INSTANCE, Short.MIN_VALUE, (short) 300),
                new Sample("int", IntSerializer.INSTANCE, Integer.MIN_VALUE, 7),
                new Sample("long", LongSerializer.INSTANCE, Long.MIN_VALUE, Long.MAX_VALUE, 0L),
                new Sample("float", FloatSerializer.INSTANCE, 0.1f, Float.NaN, Float.NEGATIVE_INFINITY, Float.MIN_VALUE),
                new Sample("double", DoubleSerializer.INSTANCE, 0.1, -0.0, Double.NaN, Double.POSITIVE_INFINITY, 1e300),
                new Sample("char", CharSerializer.INSTANCE, 'a', 'ß', '\u20ac', '\0'),
                new Sample("boolean value", BooleanValueSerializer.INSTANCE, BooleanValue.TRUE),
                new Sample("byte value", ByteValueSerializer.INSTANCE, new ByteValue((byte) 5)),
                new Sample("short value", ShortValueSerializer.INSTANCE, new ShortValue((short) 5)),
                new Sample("int value", IntValueSerializer.INSTANCE, new IntValue(5)),
                new Sample("long value", LongValueSerializer.INSTANCE, new LongValue(5)),
                new Sample("float value", FloatValueSerializer.INSTANCE, new FloatValue(0.5f)),
                new Sample("double value", DoubleValueSerializer.INSTANCE, new DoubleValue(0.5)),
                new Sample("char value", CharValueSerializer.INSTANCE, new CharValue('x')),
                new Sample("string value", StringValueSerializer.INSTANCE, new StringValue("x")),
                new Sample("null value", NullValueSerializer.INSTANCE, NullValue.getInstance()));
    }

    private static List<Sample> scalars() {
        String large = String.join("", Collections.nCopies(300, "ab"));
        BigInteger huge = BigInteger.TWO.pow(500).negate();
        Timestamp nanos = new Timestamp(-1L);
        nanos.setNanos(123456789);
        return Arrays.asList(
                new Sample("string", StringSerializer.INSTANCE, "", "a", "grün €", "\uD83D\uDE00 and \0", large, large + "€", null),
                new Sample("big integer", BigIntSerializer.INSTANCE, BigInteger.ZERO, BigInteger.ONE, BigInteger.TEN, huge,
                        BigInteger.valueOf(-128), BigInteger.valueOf(Long.MAX_VALUE).add(BigInteger.ONE), null),
                new Sample("big decimal", BigDecSerializer.INSTANCE, BigDecimal.ZERO, new BigDecimal("1.50"), new BigDecimal("-1E+30"),
                        new BigDecimal("0E-9"), new BigDecimal(huge, 77), new BigDecimal("0.000000123"), null),
                new Sample("date", DateSerializer.INSTANCE, new Date(0), new Date(-1), new Date(1700000000123L), null),
                new Sample("sql date", SqlDateSerializer.INSTANCE, new java.sql.Date(1700000000123L), null),
                new Sample("sql time", SqlTimeSerializer.INSTANCE, new java.sql.Time(3600001), null),
                new Sample("sql timestamp", SqlTimestampSerializer.INSTANCE, nanos, new Timestamp(1700000000123L), null),
                new Sample("instant", InstantSerializer.INSTANCE, Instant.EPOCH, Instant.ofEpochSecond(-3000000000000L), Instant.ofEpochSecond(3000000000000L),
                        Instant.ofEpochSecond(951782400, 5), null),
                new Sample("local date", LocalDateSerializer.INSTANCE, LocalDate.of(2024, 2, 29), LocalDate.MIN, LocalDate.MAX,
                        LocalDate.of(-5, 1, 1), LocalDate.of(33, 12, 31), null),
                new Sample("local time", LocalTimeSerializer.INSTANCE, LocalTime.MIDNIGHT, LocalTime.of(23, 59, 59, 120000000),
                        LocalTime.MAX, null),
                new Sample("local date time", LocalDateTimeSerializer.INSTANCE, LocalDateTime.of(1999, 12, 31, 23, 59), null),
                new Sample("void", VoidSerializer.INSTANCE, (Object) null),
                new Sample("enum", new EnumSerializer<>(Types.Size.class), Types.Size.SMALL, Types.Size.LARGE));
    }

    private static List<Sample> arrays() {
        return Arrays.asList(
                new Sample("bytes", BytePrimitiveArraySerializer.INSTANCE, new byte[0], new byte[] {1, -1}),
                new Sample("booleans", BooleanPrimitiveArraySerializer.INSTANCE, new boolean[] {true, false}),
                new Sample("chars", CharPrimitiveArraySerializer.INSTANCE, new char[] {'a', '€'}),
                new Sample("shorts", ShortPrimitiveArraySerializer.INSTANCE, new short[] {1, -1}),
                new Sample("ints", IntPrimitiveArraySerializer.INSTANCE, new int[] {1, -1}, new int[0]),
                new Sample("longs", LongPrimitiveArraySerializer.INSTANCE, new long[] {1, -1}),
                new Sample("floats", FloatPrimitiveArraySerializer.INSTANCE, new float[] {1.5f, Float.NaN}),
                new Sample("doubles", DoublePrimitiveArraySerializer.INSTANCE, new double[] {1.5, Double.NEGATIVE_INFINITY}),
                new Sample("strings", StringArraySerializer.INSTANCE, (Object) new String[] {"a", null, "€"}),
                new Sample("objects", new GenericArraySerializer<>(Long.class, LongSerializer.INSTANCE), (Object) new Long[] {1L, null}));
    }

    private static List<Sample> composites() {
        TypeSerializer<String> text = StringSerializer.INSTANCE;
        TypeSerializer<Integer> number = IntSerializer.INSTANCE;
        TupleSerializer<?> pair = tuple(Tuple2.class, text, number);
        Row deleted = Row.ofKind(RowKind.DELETE, 1, null, "x");
        Row wide = new Row(20);
        for (int i = 0; i < 20; i += 3) {
            wide.setField(i, i);
        }
        TypeSerializer<?>[] numbers = new TypeSerializer<?>[20];
        Arrays.fill(numbers, number);
        TreeMap<String, Integer> map = new TreeMap<>();
        map.put("a", 1);
        map.put("b", null);
        return Arrays.asList(
                new Sample("tuple0", Tuple0Serializer.INSTANCE, Tuple0.INSTANCE),
                new Sample("tuple1", tuple(Tuple1.class, number), Tuple1.of(5)),
                new Sample("tuple2", pair, Tuple2.of("a", 1)),
                new Sample("tuple of tuples", tuple(Tuple3.class, pair, number, tuple(Tuple1.class, LongSerializer.INSTANCE)),
                        Tuple3.of(Tuple2.of("a", 1), 2, Tuple1.of(3L))),
                new Sample("row", new RowSerializer(new TypeSerializer<?>[] {number, number, text}), Row.of(1, 2, "a"), deleted,
                        Row.ofKind(RowKind.UPDATE_BEFORE, null, null, null), Row.ofKind(RowKind.UPDATE_AFTER, 1, 2, null)),
                new Sample("wide row", new RowSerializer(numbers), wide),
                new Sample("either", new EitherSerializer<>(text, number), Either.Left("a"), Either.Right(1)),
                new Sample("list", new ListSerializer<>(text), Arrays.asList("a", "b"), Collections.emptyList()),
                new Sample("map", new MapSerializer<>(text, number), map, Collections.emptyMap()),
                new Sample("map of doubles", new MapSerializer<>(DoubleSerializer.INSTANCE, new ListSerializer<>(number)),
                        Collections.singletonMap(-0.0, Arrays.asList(1, 2))),
                new Sample("nullable", NullableSerializer.wrap(number, false), 5, null),
                new Sample("padded", NullableSerializer.wrap(number, true), 5, null),
                new Sample("pojo", Version.pojo(Types.Animal.class), new Types.Animal("ant", 6, Types.Size.SMALL),
                        new Types.Animal(null, null, null), null),
                new Sample("pojo with a registered subclass", Version.pojo(Types.Animal.class), new Types.Dog("rex", 30.5)),
                new Sample("pojo of pojos", Version.pojo(Types.Zoo.class),
                        new Types.Zoo(new Types.Animal("ant", 6, null), new Types.Dog("rex", Double.NaN)), new Types.Zoo()));
    }

    private static List<Sample> ofState() {
        TypeSerializer<String> text = StringSerializer.INSTANCE;
        return Arrays.asList(
                new Sample("void namespace", VoidNamespaceSerializer.INSTANCE, VoidNamespace.INSTANCE),
                new Sample("time window", new TimeWindow.Serializer(), new TimeWindow(-5, 10)),
                new Sample("global window", new GlobalWindow.Serializer(), GlobalWindow.get()),
                new Sample("ttl", new TtlStateFactory.TtlSerializer<>(LongSerializer.INSTANCE, text), new TtlValue<>("a", 5)),
                new Sample("stream element", new StreamElementSerializer<>(text), new StreamRecord<>("a", 5), new StreamRecord<>("b"),
                        new Watermark(7)),
                new Sample("buffer entry", new IntervalJoinOperator.BufferEntrySerializer<>(text),
                        new IntervalJoinOperator.BufferEntry<>("a", true), new IntervalJoinOperator.BufferEntry<>("b", false)));
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static TupleSerializer<?> tuple(Class<?> type, TypeSerializer<?>... fields) {
        return new TupleSerializer(type, fields);
    }
}

package penstock.savepoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.ttl.TtlValue;
import org.apache.flink.streaming.api.operators.co.IntervalJoinOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.BooleanValue;
import org.apache.flink.types.ByteValue;
import org.apache.flink.types.CharValue;
import org.apache.flink.types.DoubleValue;
import org.apache.flink.types.Either;
import org.apache.flink.types.FloatValue;
import org.apache.flink.types.IntValue;
import org.apache.flink.types.LongValue;
import org.apache.flink.types.NullValue;
import org.apache.flink.types.Row;
import org.apache.flink.types.ShortValue;
import org.apache.flink.types.StringValue;

/** Values as JSON, in the forms of docs/savepoints.md. */
public final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final BigInteger LOWEST = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger HIGHEST = BigInteger.valueOf(Long.MAX_VALUE);

    private Json() {}

    public static String text(Object plain) {
        try {
            return MAPPER.writeValueAsString(plain);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    public static Map<String, Object> object(Object... namesAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            object.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return object;
    }

    public static Object plain(Object value) throws ReflectiveOperationException {
        if (value == null || value instanceof VoidNamespace || value instanceof NullValue) {
            return null;
        }
        if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            return Double.isFinite(number) ? (Object) number : Double.toString(number);
        }
        if (value instanceof BigInteger) {
            BigInteger number = (BigInteger) value;
            boolean isLong = number.compareTo(LOWEST) >= 0 && number.compareTo(HIGHEST) <= 0;
            return isLong ? number : number.toString();
        }
        if (value instanceof String || value instanceof Boolean || (value instanceof Number && !(value instanceof BigDecimal))) {
            return value;
        }
        if (value instanceof Character || value instanceof BigDecimal || value instanceof CharSequence) {
            return value.toString();
        }
        if (value instanceof Enum) {
            return ((Enum<?>) value).name();
        }
        Object time = time(value);
        if (time != null) {
            return time;
        }
        Object ofFlink = ofFlink(value);
        if (ofFlink != null) {
            return ofFlink;
        }
        if (value instanceof byte[]) {
            return HexFormat.of().formatHex((byte[]) value);
        }
        if (value instanceof ByteBuffer) {
            ByteBuffer buffer = ((ByteBuffer) value).duplicate();
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return HexFormat.of().formatHex(bytes);
        }
        if (value instanceof char[]) {
            return new String((char[]) value);
        }
        if (value.getClass().isArray()) {
            List<Object> list = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                list.add(plain(Array.get(value, i)));
            }
            return list;
        }
        if (value instanceof Collection) {
            List<Object> list = new ArrayList<>();
            for (Object element : (Collection<?>) value) {
                list.add(plain(element));
            }
            return list;
        }
        if (value instanceof Map) {
            List<Object> pairs = new ArrayList<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                List<Object> pair = new ArrayList<>();
                pair.add(plain(entry.getKey()));
                pair.add(plain(entry.getValue()));
                pairs.add(pair);
            }
            return pairs;
        }
        Object special = Version.plain(value);
        return special == null ? pojo(value) : special;
    }

    private static Object time(Object value) {
        if (value instanceof LocalDate) {
            return value.toString();
        }
        if (value instanceof LocalTime) {
            return DateTimeFormatter.ISO_LOCAL_TIME.format((LocalTime) value);
        }
        if (value instanceof LocalDateTime) {
            return DateTimeFormatter.ISO_LOCAL_DATE_TIME.format((LocalDateTime) value);
        }
        Instant moment = null;
        if (value instanceof Instant) {
            moment = (Instant) value;
        } else if (value instanceof java.sql.Timestamp) {
            moment = ((java.sql.Timestamp) value).toInstant();
        } else if (value instanceof java.util.Date) {
            moment = Instant.ofEpochMilli(((java.util.Date) value).getTime());
        }
        if (moment == null) {
            return null;
        }
        return DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(moment.atOffset(ZoneOffset.UTC)) + "Z";
    }

    private static Object ofFlink(Object value) throws ReflectiveOperationException {
        if (value instanceof Tuple) {
            Tuple tuple = (Tuple) value;
            List<Object> list = new ArrayList<>();
            for (int i = 0; i < tuple.getArity(); i++) {
                list.add(plain(tuple.getField(i)));
            }
            return list;
        }
        if (value instanceof Row) {
            Row row = (Row) value;
            List<Object> list = new ArrayList<>();
            for (int i = 0; i < row.getArity(); i++) {
                list.add(plain(row.getField(i)));
            }
            return object("kind", row.getKind().shortString(), "fields", list);
        }
        if (value instanceof Either) {
            Either<?, ?> either = (Either<?, ?>) value;
            return either.isLeft() ? object("left", plain(either.left())) : object("right", plain(either.right()));
        }
        if (value instanceof TimeWindow) {
            TimeWindow window = (TimeWindow) value;
            return object("start", window.getStart(), "end", window.getEnd());
        }
        if (value instanceof GlobalWindow) {
            return "GlobalWindow";
        }
        if (value instanceof TtlValue) {
            TtlValue<?> ttl = (TtlValue<?>) value;
            return object("last_access", ttl.getLastAccessTimestamp(), "value", plain(ttl.getUserValue()));
        }
        if (value instanceof StreamRecord) {
            StreamRecord<?> record = (StreamRecord<?>) value;
            return object("timestamp", record.hasTimestamp() ? record.getTimestamp() : null, "value", plain(record.getValue()));
        }
        if (value instanceof Watermark) {
            return object("watermark", ((Watermark) value).getTimestamp());
        }
        if (value instanceof IntervalJoinOperator.BufferEntry) {
            return object("value", plain(field(value, "element")), "joined", field(value, "hasBeenJoined"));
        }
        return ofValue(value);
    }

    private static Object ofValue(Object value) throws ReflectiveOperationException {
        if (value instanceof BooleanValue
                || value instanceof ByteValue
                || value instanceof ShortValue
                || value instanceof IntValue
                || value instanceof LongValue
                || value instanceof FloatValue
                || value instanceof DoubleValue
                || value instanceof CharValue
                || value instanceof StringValue) {
            return plain(value.getClass().getMethod("getValue").invoke(value));
        }
        return null;
    }

    static Object field(Object value, String name) throws ReflectiveOperationException {
        Field field = value.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(value);
    }

    /** All fields; the class only of those that extend another class, as no type here declares such a one. */
    private static Object pojo(Object value) throws ReflectiveOperationException {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (value.getClass().getSuperclass() != Object.class) {
            fields.put("@class", value.getClass().getName());
        }
        for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers())) {
                    field.setAccessible(true);
                    fields.put(field.getName(), plain(field.get(value)));
                }
            }
        }
        return fields;
    }
}

package penstock.savepoints;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.SetSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.formats.avro.typeutils.AvroSerializer;
import org.apache.flink.streaming.api.datastream.CoGroupedStreams.UnionSerializer;
import org.apache.flink.util.TaggedUnion;

/** What differs between the two Flinks. */
final class Version {
    static final String NAME = "2.3.0";
    private static final Schema SCHEMA =
            new Schema.Parser()
                    .parse(
                            "{\"type\":\"record\",\"name\":\"Node\",\"namespace\":\"penstock.savepoints\",\"fields\":["
                                    + "{\"name\":\"name\",\"type\":\"string\"},{\"name\":\"small\",\"type\":\"int\"},"
                                    + "{\"name\":\"large\",\"type\":\"long\"},{\"name\":\"real\",\"type\":[\"null\",\"double\"]},"
                                    + "{\"name\":\"single\",\"type\":\"float\"},{\"name\":\"flag\",\"type\":\"boolean\"},"
                                    + "{\"name\":\"data\",\"type\":\"bytes\"},"
                                    + "{\"name\":\"hash\",\"type\":{\"type\":\"fixed\",\"name\":\"Hash\",\"size\":4}},"
                                    + "{\"name\":\"suit\",\"type\":{\"type\":\"enum\",\"name\":\"Suit\",\"symbols\":[\"A\",\"B\"]}},"
                                    + "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},"
                                    + "{\"name\":\"counts\",\"type\":{\"type\":\"map\",\"values\":\"int\"}},"
                                    + "{\"name\":\"next\",\"type\":[\"null\",\"Node\"]}]}");

    private Version() {}

    static TypeSerializer<?> pojo(Class<?> type) {
        SerializerConfigImpl config = new SerializerConfigImpl();
        config.registerPojoType(Types.Dog.class);
        return TypeInformation.of(type).createSerializer(config);
    }

    static List<Sample> samples() {
        GenericRecord last = node("end", null, Collections.emptyList(), Collections.emptyMap());
        GenericRecord first = node("grün", 1.5, Arrays.asList("a", "b"), Collections.singletonMap("k", 200));
        first.put("next", last);
        return Arrays.asList(
                new Sample("union", new UnionSerializer<>(StringSerializer.INSTANCE, IntSerializer.INSTANCE),
                        TaggedUnion.one("a"), TaggedUnion.two(1)),
                new Sample("set", new SetSerializer<>(StringSerializer.INSTANCE), Collections.singleton("a"), Collections.emptySet()),
                new Sample("avro", new AvroSerializer<>(GenericRecord.class, SCHEMA), first, last));
    }

    private static GenericRecord node(String name, Double real, List<String> tags, Map<String, Integer> counts) {
        GenericRecord record = new GenericData.Record(SCHEMA);
        record.put("name", name);
        record.put("small", -7);
        record.put("large", Long.MAX_VALUE);
        record.put("real", real);
        record.put("single", 0.5f);
        record.put("flag", true);
        record.put("data", ByteBuffer.wrap(new byte[] {1, 2}));
        record.put("hash", new GenericData.Fixed(SCHEMA.getField("hash").schema(), new byte[] {1, 2, 3, 4}));
        record.put("suit", new GenericData.EnumSymbol(SCHEMA.getField("suit").schema(), "B"));
        record.put("tags", tags);
        record.put("counts", counts);
        return record;
    }

    static Object plain(Object value) throws ReflectiveOperationException {
        if (value instanceof TaggedUnion) {
            TaggedUnion<?, ?> union = (TaggedUnion<?, ?>) value;
            return union.isOne() ? Json.object("first", Json.plain(union.getOne())) : Json.object("second", Json.plain(union.getTwo()));
        }
        if (value instanceof GenericRecord) {
            GenericRecord record = (GenericRecord) value;
            Map<String, Object> fields = new LinkedHashMap<>();
            for (Schema.Field field : record.getSchema().getFields()) {
                fields.put(field.name(), Json.plain(record.get(field.pos())));
            }
            return fields;
        }
        if (value instanceof GenericFixed) {
            return Json.plain(((GenericFixed) value).bytes());
        }
        if (value instanceof GenericData.EnumSymbol) {
            return value.toString();
        }
        return null;
    }
}

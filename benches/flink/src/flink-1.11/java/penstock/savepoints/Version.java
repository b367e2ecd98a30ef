package penstock.savepoints;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.streaming.api.datastream.CoGroupedStreams.TaggedUnion;
import org.apache.flink.streaming.api.datastream.CoGroupedStreams.UnionSerializer;

/** What differs between the two Flinks. */
final class Version {
    static final String NAME = "1.11.4";

    private Version() {}

    static TypeSerializer<?> pojo(Class<?> type) {
        ExecutionConfig config = new ExecutionConfig();
        config.registerPojoType(Types.Dog.class);
        return TypeInformation.of(type).createSerializer(config);
    }

    static List<Sample> samples() {
        return Arrays.asList(
                new Sample("union", new UnionSerializer<>(StringSerializer.INSTANCE, IntSerializer.INSTANCE),
                        TaggedUnion.one("a"), TaggedUnion.two(1)));
    }

    static Object plain(Object value) throws ReflectiveOperationException {
        if (value instanceof TaggedUnion) {
            TaggedUnion<?, ?> union = (TaggedUnion<?, ?>) value;
            return union.isOne() ? Json.object("first", Json.plain(union.getOne())) : Json.object("second", Json.plain(union.getTwo()));
        }
        return null;
    }
}

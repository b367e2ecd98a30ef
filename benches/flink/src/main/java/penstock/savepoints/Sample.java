package penstock.savepoints;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** A serializer, and values that it writes. */
final class Sample {
    final String name;
    final TypeSerializer<Object> serializer;
    final List<Object> values;

    @SuppressWarnings("unchecked")
    Sample(String name, TypeSerializer<?> serializer, Object... values) {
        this.name = name;
        this.serializer = (TypeSerializer<Object>) serializer;
        this.values = Arrays.asList(values);
    }
}

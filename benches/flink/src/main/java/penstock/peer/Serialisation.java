package penstock.peer;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.util.InstantiationUtil;

/** Writes what a job's operator configurations hold once more, object by object, as createJobGraph did. */
final class Serialisation {
    private Serialisation() {}

    /** How many bytes were written; only the writing is on the clock. */
    static Long of(JobGraph job, Clock clock) throws Exception {
        long bytes = 0;
        for (JobVertex vertex : job.getVertices()) {
            List<Object> objects = new ArrayList<>();
            collect(vertex.getConfiguration(), objects);
            clock.start();
            for (Object object : objects) {
                bytes += InstantiationUtil.serializeObject(object).length;
            }
            clock.stop();
        }
        return bytes;
    }

    private static void collect(Configuration config, List<Object> objects) throws Exception {
        for (Object value : values(config).values()) {
            if (value instanceof byte[] bytes && serialised(bytes)) {
                Object object = InstantiationUtil.deserializeObject(bytes, Serialisation.class.getClassLoader());
                objects.add(object);
                if (object instanceof Map<?, ?> chained) { // the configurations of the chained operators
                    for (Object nested : chained.values()) {
                        if (nested instanceof StreamConfig operator) {
                            collect(operator.getConfiguration(), objects);
                        }
                    }
                }
            }
        }
    }

    /** By magic number and version of Java serialisation: ids are kept as bare bytes, and some begin like the number. */
    private static boolean serialised(byte[] bytes) {
        return bytes.length > 4 && ByteBuffer.wrap(bytes).getInt() == 0xACED0005;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> values(Configuration config) throws ReflectiveOperationException {
        Field data = Configuration.class.getDeclaredField("confData");
        data.setAccessible(true);
        return (Map<String, Object>) data.get(config);
    }
}

package penstock.moves;

import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What differs between the versions of Flink: the side of 2.3. */
final class Version {
    static final String NAME = "2.3.0";

    private Version() {}

    static void prepare(StreamExecutionEnvironment environment) {}

    static JobGraph jobGraph(StreamExecutionEnvironment environment, String name) {
        return environment.getStreamGraph().getJobGraph();
    }

    static String stop(MiniCluster cluster, JobID job, String folder) throws Exception {
        return cluster.stopWithSavepoint(job, folder, false, SavepointFormatType.CANONICAL).get();
    }

    static Duration time(long milliseconds) {
        return Duration.ofMillis(milliseconds);
    }

    static StateTtlConfig.Builder timeToLive(long milliseconds) {
        return StateTtlConfig.newBuilder(Duration.ofMillis(milliseconds));
    }

    /** What a type makes its serializer by. */
    static SerializerConfig serializers() {
        return new SerializerConfigImpl();
    }
}

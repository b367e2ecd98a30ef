package penstock.moves;

import java.io.File;
import java.time.Duration;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What differs between the versions of Flink: the side of 2.3. */
final class Version {
    static final String NAME = "2.3.0";

    private Version() {}

    /** Programs that this version does not go on with. */
    static final Set<String> LOST = Set.of();

    /** State beyond some kilobytes lies in files of its own in a savepoint, as with any folder for checkpoints. */
    static void prepare(StreamExecutionEnvironment environment, File checkpoints, boolean rocks) {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, rocks ? "rocksdb" : "hashmap");
        configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toURI().toString());
        environment.configure(configuration);
    }

    static JobGraph jobGraph(StreamExecutionEnvironment environment, String name) {
        return environment.getStreamGraph().getJobGraph();
    }

    static String stop(MiniCluster cluster, JobID job, String folder, boolean nativeFormat) throws Exception {
        SavepointFormatType format = nativeFormat ? SavepointFormatType.NATIVE : SavepointFormatType.CANONICAL;
        return cluster.stopWithSavepoint(job, folder, false, format).get();
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

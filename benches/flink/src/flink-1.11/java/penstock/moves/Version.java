package penstock.moves;

import java.io.File;
import java.util.Set;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.TimeCharacteristic;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.windowing.time.Time;

/** What differs between the versions of Flink: the side of 1.11. */
final class Version {
    static final String NAME = "1.11.4";

    private Version() {}

    /** Programs that this version does not go on with: it does not find its own state by an ID that is pinned. */
    static final Set<String> LOST = Set.of("uid_hash");

    /** State beyond some kilobytes lies in files of its own in a savepoint, as with any folder for checkpoints. */
    static void prepare(StreamExecutionEnvironment environment, File checkpoints, boolean rocks) {
        Configuration configuration = new Configuration();
        configuration.set(CheckpointingOptions.STATE_BACKEND, rocks ? "rocksdb" : "filesystem");
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toURI().toString());
        environment.configure(configuration, Version.class.getClassLoader());
        environment.setStreamTimeCharacteristic(TimeCharacteristic.EventTime);
        environment.getConfig().disableClosureCleaner(); // it looks into java.util.concurrent, which Java 17 does not let it
    }

    static JobGraph jobGraph(StreamExecutionEnvironment environment, String name) {
        return environment.getStreamGraph(name).getJobGraph();
    }

    static String stop(MiniCluster cluster, JobID job, String folder, boolean nativeFormat) throws Exception {
        if (nativeFormat) {
            throw new IllegalArgumentException("there is one format");
        }
        return cluster.stopWithSavepoint(job, folder, false).get();
    }

    static Time time(long milliseconds) {
        return Time.milliseconds(milliseconds);
    }

    static StateTtlConfig.Builder timeToLive(long milliseconds) {
        return StateTtlConfig.newBuilder(org.apache.flink.api.common.time.Time.milliseconds(milliseconds));
    }

    /** What a type makes its serializer by. */
    static ExecutionConfig serializers() {
        return new ExecutionConfig();
    }
}

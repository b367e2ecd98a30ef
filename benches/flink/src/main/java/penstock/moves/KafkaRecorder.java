package penstock.moves;

import java.io.File;
import java.net.URI;
import java.util.List;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import penstock.savepoints.Json;

/**
 * Sums the numbers of a topic by key until so many records have come, then stops with a savepoint: {@code SERVERS TOPIC
 * COUNT NEW [OLD]}. NEW is the folder of the savepoint, OLD that of one to begin from. Prints the outputs.
 */
public final class KafkaRecorder {
    private static final int PARALLELISM = 2;
    private static final int MAX_PARALLELISM = 128;
    private static final long PATIENCE_MILLISECONDS = 60_000;
    private static final String RUN = "kafka_sums";

    private KafkaRecorder() {}

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[2]);
        File folder = new File(arguments[3]).getAbsoluteFile();
        MiniClusterConfiguration configuration =
                new MiniClusterConfiguration.Builder().setNumTaskManagers(1).setNumSlotsPerTaskManager(PARALLELISM).build();
        try (MiniCluster cluster = new MiniCluster(configuration)) {
            cluster.start();
            JobGraph job = job(arguments[0], arguments[1], folder.getParentFile());
            if (arguments.length > 4) {
                String old = new File(arguments[4]).toURI().toString();
                job.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(old, false));
            }
            cluster.submitJob(job).get();
            long end = System.currentTimeMillis() + PATIENCE_MILLISECONDS;
            while (Outputs.count(RUN) < count) {
                if (System.currentTimeMillis() > end) {
                    throw new IllegalStateException("of " + count + " records " + Outputs.count(RUN) + " have come");
                }
                Thread.sleep(20);
            }
            File parent = new File(folder.getParentFile(), folder.getName() + ".parent");
            Recorder.awaitRunning(cluster, job);
            String place = Version.stop(cluster, job.getJobID(), parent.toURI().toString(), false);
            if (!new File(URI.create(place)).renameTo(folder) || !parent.delete()) {
                throw new IllegalStateException("cannot move " + place + " to " + folder);
            }
        }
        List<Object> outputs = Outputs.end(RUN);
        if (outputs.size() != count) {
            throw new IllegalStateException(outputs.size() + " records have come, not " + count);
        }
        System.out.println(Json.text(outputs));
        System.exit(0); // threads of Flink may go on
    }

    private static JobGraph job(String servers, String topic, File place) {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(PARALLELISM);
        environment.setMaxParallelism(MAX_PARALLELISM);
        environment.setBufferTimeout(5);
        Version.prepare(environment, new File(place, "checkpoints"), false);
        Outputs.begin(RUN, false);
        DataStream<Tuple2<String, Long>> records =
                KafkaRecords.of(environment, servers, topic)
                        .map(text -> Tuple2.of(text.split(",")[0], Long.parseLong(text.split(",")[1])))
                        .returns(Types.TUPLE(Types.STRING, Types.LONG));
        records.keyBy(record -> record.f0)
                .map(new Sums())
                .uid("sums")
                .returns(Types.TUPLE(Types.STRING, Types.LONG))
                .addSink(new Sink<>(RUN))
                .uid("outputs");
        return Version.jobGraph(environment, RUN);
    }

    private static final class Sums extends RichMapFunction<Tuple2<String, Long>, Tuple2<String, Long>> {
        private transient ValueState<Long> sum;

        @Override
        public Tuple2<String, Long> map(Tuple2<String, Long> record) throws Exception {
            if (sum == null) {
                sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Types.LONG));
            }
            long before = sum.value() == null ? 0 : sum.value();
            sum.update(before + record.f1);
            return Tuple2.of(record.f0, before + record.f1);
        }
    }
}

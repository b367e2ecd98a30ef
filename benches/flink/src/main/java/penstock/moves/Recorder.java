package penstock.moves;

import java.io.File;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import penstock.savepoints.Json;

/**
 * Runs programs over their whole input, over its first half until a savepoint stops them without drain, and from there
 * over the second half, which must come to the same: {@code FOLDER [NAME...]}. FOLDER gets a folder with the savepoint of
 * each program; printed is a line of JSON per program.
 */
public final class Recorder {
    private static final int SLOTS = 8;
    private static final int BUFFER_MILLISECONDS = 5;

    private Recorder() {}

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]).getAbsoluteFile();
        List<String> names = List.of(arguments).subList(1, arguments.length);
        MiniClusterConfiguration configuration =
                new MiniClusterConfiguration.Builder().setNumTaskManagers(1).setNumSlotsPerTaskManager(SLOTS).build();
        try (MiniCluster cluster = new MiniCluster(configuration)) {
            cluster.start();
            for (Program program : Programs.all()) {
                if (names.isEmpty() || names.contains(program.name)) {
                    System.out.println(Json.text(record(cluster, program, new File(folder, program.name))));
                }
            }
        }
        System.exit(0); // threads of Flink may go on
    }

    private static Object record(MiniCluster cluster, Program program, File folder) throws Exception {
        List<Object> before = stopped(cluster, program, folder);
        List<Object> whole = outputs(cluster, program, program.input.all(), null);
        List<Object> both = new ArrayList<>(before);
        both.addAll(outputs(cluster, program, program.input.second, folder));
        if (!sorted(both).equals(sorted(whole))) {
            throw new IllegalStateException(program.name + " goes on otherwise in Flink itself: " + both + ", not " + whole);
        }
        return Json.object(
                "name", program.name,
                "flink", Version.NAME,
                "api", "java",
                "parallelism", program.parallelism,
                "max_parallelism", program.maxParallelism,
                "first", plain(program.input.first),
                "second", plain(program.input.second),
                "before", before,
                "whole", whole);
    }

    private static List<String> sorted(List<Object> outputs) {
        return outputs.stream().map(Json::text).sorted().collect(Collectors.toList());
    }

    /** All outputs for the items, from a savepoint or from nothing. */
    private static List<Object> outputs(MiniCluster cluster, Program program, List<Input.Item> items, File savepoint)
            throws Exception {
        String run = program.name + (savepoint == null ? " whole" : " second");
        JobGraph job = job(run, program, items, false);
        if (savepoint != null) {
            job.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint.toURI().toString(), false));
        }
        cluster.executeJobBlocking(job);
        return Outputs.end(run);
    }

    /** The outputs until the savepoint: its barrier comes behind all records, and nothing comes behind the barrier. */
    private static List<Object> stopped(MiniCluster cluster, Program program, File folder) throws Exception {
        String run = program.name + " first";
        JobGraph job = job(run, program, program.input.first, true);
        cluster.submitJob(job).get();
        Outputs.emitted(run).await();
        while (!runs(cluster, job)) {
            Thread.sleep(5);
        }
        File parent = new File(folder.getParentFile(), program.name + ".parent");
        String place = Version.stop(cluster, job.getJobID(), parent.toURI().toString());
        cluster.requestJobResult(job.getJobID()).get();
        if (!new File(URI.create(place)).renameTo(folder) || !parent.delete()) {
            throw new IllegalStateException("cannot move " + place + " to " + folder);
        }
        return Outputs.end(run);
    }

    private static boolean runs(MiniCluster cluster, JobGraph job) throws Exception {
        for (AccessExecutionVertex task : cluster.getExecutionGraph(job.getJobID()).get().getAllExecutionVertices()) {
            if (task.getExecutionState() != ExecutionState.RUNNING) {
                return false;
            }
        }
        return true;
    }

    private static JobGraph job(String run, Program program, List<Input.Item> items, boolean waits) {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(program.parallelism);
        environment.setMaxParallelism(program.maxParallelism);
        environment.setBufferTimeout(BUFFER_MILLISECONDS);
        Version.prepare(environment);
        Outputs.begin(run);
        DataStream<Tuple3<String, Integer, Long>> records =
                environment
                        .addSource(new Source(run, items, waits), "records", Program.RECORD)
                        .uid("records");
        program.body.build(records).addSink(new Sink<>(run)).uid("outputs");
        return Version.jobGraph(environment, program.name);
    }

    private static List<Object> plain(List<Input.Item> items) throws Exception {
        List<Object> plain = new ArrayList<>();
        for (Input.Item item : items) {
            plain.add(item.record != null ? Json.plain(item.record) : item.watermark);
        }
        return plain;
    }
}

package penstock.moves;

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
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
 * over the second half, which must come to the same: {@code FOLDER KIND [NAME...]}. FOLDER/savepoints gets a
 * folder for each program; printed is a line of JSON per program. KIND is {@code canonical} or {@code native}, with state
 * on the heap, or {@code rocksdb}, whose jars are then on the class path.
 */
public final class Recorder {
    private static final int SLOTS = 8;
    private static final int BUFFER_MILLISECONDS = 5;

    private final MiniCluster cluster;
    private final File savepoints;
    private final File checkpoints;
    private final String kind;

    private Recorder(MiniCluster cluster, File folder, String kind) {
        this.cluster = cluster;
        this.savepoints = new File(folder, "savepoints");
        this.checkpoints = new File(folder, "checkpoints");
        this.kind = kind;
    }

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]).getAbsoluteFile();
        String kind = arguments[1];
        List<String> names = List.of(arguments).subList(2, arguments.length);
        MiniClusterConfiguration configuration =
                new MiniClusterConfiguration.Builder().setNumTaskManagers(1).setNumSlotsPerTaskManager(SLOTS).build();
        try (MiniCluster cluster = new MiniCluster(configuration)) {
            cluster.start();
            for (Program program : Programs.all()) {
                if (names.isEmpty() ? !Version.LOST.contains(program.name) : names.contains(program.name)) {
                    System.out.println(Json.text(new Recorder(cluster, folder, kind).record(program)));
                }
            }
        }
        System.exit(0); // threads of Flink may go on
    }

    private Object record(Program program) throws Exception {
        List<Object> before = stopped(program);
        List<Object> whole = outputs(program, program.input.all(), null);
        List<Object> both = new ArrayList<>(before);
        both.addAll(outputs(program, program.input.second, new File(savepoints, program.name)));
        if (!sorted(both).equals(sorted(whole))) {
            throw new IllegalStateException(program.name + " goes on otherwise in Flink itself: " + both + ", not " + whole);
        }
        return Json.object(
                "name", program.name,
                "flink", Version.NAME,
                "kind", kind,
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
    private List<Object> outputs(Program program, List<Input.Item> items, File savepoint) throws Exception {
        String run = program.name + (savepoint == null ? " whole" : " second");
        JobGraph job = job(run, program, items, false);
        if (savepoint != null) {
            job.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint.toURI().toString(), false));
        }
        start(job, run);
        finish(job);
        return Outputs.end(run);
    }

    /** The outputs until the savepoint: its barrier comes behind all records, and nothing comes behind the barrier. */
    private List<Object> stopped(Program program) throws Exception {
        String run = program.name + " first";
        JobGraph job = job(run, program, program.input.first, true);
        start(job, run);
        Outputs.emitted(run).await();
        File parent = new File(checkpoints, program.name);
        String place = Version.stop(cluster, job.getJobID(), parent.toURI().toString(), kind.equals("native"));
        finish(job);
        Files.createDirectories(savepoints.toPath());
        Files.move(Path.of(URI.create(place)), new File(savepoints, program.name).toPath());
        return Outputs.end(run);
    }

    /** Sources wait until all tasks run: so pauses are pauses, and a savepoint can be taken at any time. */
    private void start(JobGraph job, String run) throws Exception {
        cluster.submitJob(job).get();
        awaitRunning(cluster, job);
        Outputs.started(run).countDown();
    }

    /** A savepoint is refused before all tasks run. */
    static void awaitRunning(MiniCluster cluster, JobGraph job) throws Exception {
        while (!runs(cluster.getExecutionGraph(job.getJobID()).get())) {
            Thread.sleep(5);
        }
    }

    private static boolean runs(AccessExecutionGraph graph) {
        if (graph.getState().isGloballyTerminalState()) {
            throw new IllegalStateException("has failed: " + graph.getFailureInfo().getExceptionAsString());
        }
        boolean any = false; // there are no tasks yet while the job is set up
        for (AccessExecutionVertex task : graph.getAllExecutionVertices()) {
            any = true;
            if (task.getExecutionState() != ExecutionState.RUNNING) {
                return false;
            }
        }
        return any;
    }

    private void finish(JobGraph job) throws Exception {
        cluster.requestJobResult(job.getJobID()).get().toJobExecutionResult(Recorder.class.getClassLoader());
    }

    private JobGraph job(String run, Program program, List<Input.Item> items, boolean waits) {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(program.parallelism);
        environment.setMaxParallelism(program.maxParallelism);
        environment.setBufferTimeout(BUFFER_MILLISECONDS);
        Version.prepare(environment, checkpoints, kind.equals("rocksdb"));
        Outputs.begin(run, waits);
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

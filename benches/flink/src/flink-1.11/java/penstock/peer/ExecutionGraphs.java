package penstock.peer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.flink.api.common.time.Time;
import org.apache.flink.runtime.blob.VoidBlobWriter;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.ExecutionEdge;
import org.apache.flink.runtime.executiongraph.ExecutionGraph;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.ExecutionVertex;
import org.apache.flink.runtime.executiongraph.IntermediateResult;
import org.apache.flink.runtime.executiongraph.IntermediateResultPartition;
import org.apache.flink.runtime.executiongraph.JobInformation;
import org.apache.flink.runtime.executiongraph.failover.NoOpFailoverStrategy;
import org.apache.flink.runtime.executiongraph.failover.flip1.RestartPipelinedRegionFailoverStrategy;
import org.apache.flink.runtime.executiongraph.failover.flip1.partitionrelease.RegionPartitionReleaseStrategy;
import org.apache.flink.runtime.executiongraph.restart.NoRestartStrategy;
import org.apache.flink.runtime.io.network.partition.JobMasterPartitionTracker;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobmaster.slotpool.SlotProvider;
import org.apache.flink.runtime.scheduler.adapter.DefaultExecutionTopology;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.runtime.scheduler.strategy.SchedulingExecutionVertex;
import org.apache.flink.runtime.scheduler.strategy.SchedulingPipelinedRegion;
import org.apache.flink.runtime.scheduler.strategy.SchedulingTopology;
import org.apache.flink.runtime.shuffle.NettyShuffleMaster;

/** ExecutionGraphs of 1.11: single edges. */
final class ExecutionGraphs {
    private static final int MAX_LISTED = 1000;
    private static final ScheduledExecutorService NOBODY =
            Executors.newSingleThreadScheduledExecutor(
                    work -> {
                        Thread thread = new Thread(work);
                        thread.setDaemon(true);
                        return thread;
                    });

    private ExecutionGraphs() {}

    /** An ExecutionGraph without vertices. */
    static ExecutionGraph empty(JobGraph job) throws Exception {
        JobInformation information =
                new JobInformation(
                        job.getJobID(),
                        job.getName(),
                        job.getSerializedExecutionConfig(),
                        job.getJobConfiguration(),
                        job.getUserJarBlobKeys(),
                        job.getClasspaths());
        return new ExecutionGraph(
                information,
                NOBODY,
                NOBODY,
                Time.seconds(10),
                new NoRestartStrategy(),
                16,
                new NoOpFailoverStrategy.Factory(),
                stub(SlotProvider.class),
                ExecutionGraphs.class.getClassLoader(),
                VoidBlobWriter.getInstance(),
                Time.seconds(10),
                new RegionPartitionReleaseStrategy.Factory(),
                NettyShuffleMaster.INSTANCE,
                stub(JobMasterPartitionTracker.class),
                job.getScheduleMode());
    }

    /** For services that building a graph is handed but does not call. */
    private static <T> T stub(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> null));
    }

    static ExecutionGraph attach(JobGraph job) throws Exception {
        ExecutionGraph graph = empty(job);
        attach(graph, job);
        return graph;
    }

    static void attach(ExecutionGraph graph, JobGraph job) throws Exception {
        graph.attachJobGraph(job.getVerticesSortedTopologicallyFromSources());
    }

    /** The vertices of a job connected as attachJobGraph does it, with only the connecting on the clock. */
    static void connect(JobGraph job, Clock clock) throws Exception {
        ExecutionGraph graph = empty(job);
        Map<IntermediateDataSetID, IntermediateResult> results = new HashMap<>();
        List<ExecutionJobVertex> kept = new ArrayList<>();
        for (JobVertex vertex : job.getVerticesSortedTopologicallyFromSources()) {
            ExecutionJobVertex made = new ExecutionJobVertex(graph, vertex, 1, 16, Time.seconds(10), 1L, 0L);
            clock.start();
            made.connectToPredecessors(results);
            clock.stop();
            for (IntermediateResult result : made.getProducedDataSets()) {
                results.put(result.getId(), result);
            }
            kept.add(made);
        }
    }

    static Iterable<ExecutionJobVertex> vertices(Object graph) {
        return ((ExecutionGraph) graph).getVerticesTopologically();
    }

    static int inputCount(ExecutionVertex subtask, int input) {
        return subtask.getInputEdges(input).length;
    }

    static int[] inputPartitions(ExecutionVertex subtask, int input) {
        ExecutionEdge[] edges = subtask.getInputEdges(input);
        int[] partitions = new int[edges.length];
        for (int i = 0; i < edges.length; i++) {
            partitions[i] = edges[i].getSource().getPartitionNumber();
        }
        return partitions;
    }

    // --- regions -----------------------------------------------------------------------------------------------------

    static SchedulingTopology topology(ExecutionGraph graph) {
        DefaultExecutionTopology topology = new DefaultExecutionTopology(graph);
        topology.getAllPipelinedRegions();
        return topology;
    }

    static Iterable<? extends SchedulingPipelinedRegion> regions(SchedulingTopology topology) {
        return topology.getAllPipelinedRegions();
    }

    static Iterable<? extends SchedulingExecutionVertex> members(SchedulingPipelinedRegion region) {
        return region.getVertices();
    }

    /** Nothing to do: 1.11 restarts tasks in whatever state. */
    static void schedule(ExecutionGraph graph) {}

    static RestartPipelinedRegionFailoverStrategy failover(SchedulingTopology topology, boolean available) {
        return new RestartPipelinedRegionFailoverStrategy(topology, partition -> available);
    }

    static Set<ExecutionVertexID> toRestart(RestartPipelinedRegionFailoverStrategy strategy, ExecutionVertex failed) {
        return strategy.getTasksNeedingRestart(failed.getID(), new Exception("a failure"));
    }

    static RegionPartitionReleaseStrategy releases(SchedulingTopology topology) {
        return new RegionPartitionReleaseStrategy(topology);
    }

    /** How many partitions one more finished subtask sets free. */
    static int finished(RegionPartitionReleaseStrategy strategy, ExecutionVertex subtask) {
        return strategy.vertexFinished(subtask.getID()).size();
    }

    // --- the stage execution_graph of a RESULT -------------------------------------------------------------------------

    static ObjectNode describe(JobGraph job, ExecutionGraph graph) {
        Subtasks subtasks = new Subtasks(graph.getVerticesTopologically());
        Map<Object, Integer> jobVertices = new HashMap<>();
        job.getVertices().forEach(vertex -> jobVertices.put(vertex.getID(), jobVertices.size()));
        long edges = subtasks.edges();
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("total_vertices", subtasks.count);
        out.put("total_edges", edges);
        ArrayNode vertices = out.putArray("vertices");
        for (ExecutionJobVertex vertex : subtasks.vertices) {
            ObjectNode described = vertices.addObject();
            described.put("job_vertex", jobVertices.get(vertex.getJobVertexId()));
            described.put("parallelism", vertex.getParallelism());
            described.put("max_parallelism", vertex.getMaxParallelism());
            described.put("max_parallelism_configured", vertex.isMaxParallelismConfigured());
            inputs(described.putArray("inputs"), vertex, subtasks, edges <= MAX_LISTED);
            results(described.putArray("results"), vertex, subtasks, edges <= MAX_LISTED);
        }
        out.put("sha256_inputs", subtasks.inputs());
        out.put("sha256_consumers", consumers(subtasks));
        return out;
    }

    private static void inputs(ArrayNode out, ExecutionJobVertex vertex, Subtasks subtasks, boolean listed) {
        for (int input = 0; input < vertex.getInputs().size(); input++) {
            IntermediateResult result = vertex.getInputs().get(input);
            ObjectNode described = out.addObject();
            described.put("source", subtasks.position(result.getProducer()));
            described.put("result", Subtasks.number(result));
            if (listed) {
                ArrayNode partitions = described.putArray("partitions");
                for (ExecutionVertex subtask : vertex.getTaskVertices()) {
                    ArrayNode numbers = partitions.addArray();
                    for (int partition : inputPartitions(subtask, input)) {
                        numbers.add(partition);
                    }
                }
            }
        }
    }

    private static void results(ArrayNode out, ExecutionJobVertex vertex, Subtasks subtasks, boolean listed) {
        for (IntermediateResult result : vertex.getProducedDataSets()) {
            ObjectNode described = out.addObject();
            described.put("type", result.getResultType().name());
            if (listed) {
                ArrayNode consumers = described.putArray("consumers");
                for (IntermediateResultPartition partition : result.getPartitions()) {
                    ArrayNode edges = consumers.addArray();
                    partition.getConsumers().forEach(list -> list.forEach(edge -> consumer(edges.addArray(), edge, subtasks)));
                }
            }
        }
    }

    private static void consumer(ArrayNode out, ExecutionEdge edge, Subtasks subtasks) {
        ExecutionVertex target = edge.getTarget();
        out.add(subtasks.position(target.getJobVertex())).add(edge.getInputNum()).add(target.getParallelSubtaskIndex());
    }

    private static String consumers(Subtasks subtasks) {
        Subtasks.Sha sha = new Subtasks.Sha();
        for (ExecutionJobVertex vertex : subtasks.vertices) {
            int producer = subtasks.position(vertex);
            for (IntermediateResult result : vertex.getProducedDataSets()) {
                int number = Subtasks.number(result);
                for (IntermediateResultPartition partition : result.getPartitions()) {
                    for (List<ExecutionEdge> edges : partition.getConsumers()) {
                        for (ExecutionEdge edge : edges) {
                            ExecutionVertex target = edge.getTarget();
                            sha.ints(producer, number, partition.getPartitionNumber());
                            sha.ints(subtasks.position(target.getJobVertex()), edge.getInputNum());
                            sha.ints(target.getParallelSubtaskIndex());
                        }
                    }
                }
            }
        }
        return sha.hex();
    }
}

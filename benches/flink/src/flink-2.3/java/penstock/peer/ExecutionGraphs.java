package penstock.peer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.blob.BlobWriter;
import org.apache.flink.runtime.blob.VoidBlobWriter;
import org.apache.flink.runtime.deployment.TaskDeploymentDescriptorFactory;
import org.apache.flink.runtime.deployment.TaskDeploymentDescriptorFactory.PartitionLocationConstraint;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.DefaultExecutionGraph;
import org.apache.flink.runtime.executiongraph.DefaultVertexAttemptNumberStore;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.ExecutionVertex;
import org.apache.flink.runtime.executiongraph.IntermediateResult;
import org.apache.flink.runtime.executiongraph.IntermediateResultPartition;
import org.apache.flink.runtime.executiongraph.JobInformation;
import org.apache.flink.runtime.executiongraph.NoOpExecutionDeploymentListener;
import org.apache.flink.runtime.executiongraph.TimedVertices;
import org.apache.flink.runtime.executiongraph.failover.RestartPipelinedRegionFailoverStrategy;
import org.apache.flink.runtime.executiongraph.failover.partitionrelease.RegionPartitionGroupReleaseStrategy;
import org.apache.flink.runtime.io.network.partition.JobMasterPartitionTracker;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.scheduler.SchedulerBase;
import org.apache.flink.runtime.scheduler.adapter.DefaultExecutionTopology;
import org.apache.flink.runtime.scheduler.adaptivebatch.NonAdaptiveExecutionPlanSchedulingContext;
import org.apache.flink.runtime.scheduler.strategy.ConsumedPartitionGroup;
import org.apache.flink.runtime.scheduler.strategy.ConsumerVertexGroup;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.runtime.scheduler.strategy.SchedulingExecutionVertex;
import org.apache.flink.runtime.scheduler.strategy.SchedulingPipelinedRegion;
import org.apache.flink.runtime.scheduler.strategy.SchedulingTopology;
import org.apache.flink.runtime.shuffle.NettyShuffleMaster;
import org.apache.flink.runtime.shuffle.ShuffleMasterContextImpl;

/** ExecutionGraphs of 2.3: edges in groups. */
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
    static DefaultExecutionGraph empty(JobGraph job) throws Exception {
        return empty(job, new ExecutionJobVertex.Factory());
    }

    private static DefaultExecutionGraph empty(JobGraph job, ExecutionJobVertex.Factory vertices) throws Exception {
        JobInformation information =
                new JobInformation(
                        job.getJobID(),
                        job.getJobType(),
                        job.getName(),
                        job.getSerializedExecutionConfig(),
                        job.getJobConfiguration(),
                        job.getUserJarBlobKeys(),
                        job.getClasspaths());
        PartitionLocationConstraint constraint = PartitionLocationConstraint.fromJobType(job.getJobType());
        BlobWriter blobs = VoidBlobWriter.getInstance();
        return new DefaultExecutionGraph(
                information,
                NOBODY,
                NOBODY,
                Duration.ofSeconds(10),
                16,
                ExecutionGraphs.class.getClassLoader(),
                blobs,
                new RegionPartitionGroupReleaseStrategy.Factory(),
                new NettyShuffleMaster(new ShuffleMasterContextImpl(new Configuration(), thrown -> {})),
                stub(JobMasterPartitionTracker.class),
                NoOpExecutionDeploymentListener.get(),
                (execution, before, after) -> {},
                0L,
                new DefaultVertexAttemptNumberStore(),
                SchedulerBase.computeVertexParallelismStore(job),
                false,
                vertices,
                List.of(),
                ResultPartitionType::isBlockingOrBlockingPersistentResultPartition,
                new TaskDeploymentDescriptorFactory(
                        BlobWriter.serializeAndTryOffload(information, job.getJobID(), blobs),
                        job.getJobID(),
                        constraint,
                        blobs,
                        false,
                        Integer.MAX_VALUE),
                List.of(),
                NonAdaptiveExecutionPlanSchedulingContext.INSTANCE);
    }

    /** For services that building a graph is handed but does not call. */
    private static <T> T stub(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> null));
    }

    static DefaultExecutionGraph attach(JobGraph job) throws Exception {
        DefaultExecutionGraph graph = empty(job);
        attach(graph, job);
        return graph;
    }

    static void attach(DefaultExecutionGraph graph, JobGraph job) throws Exception {
        graph.attachJobGraph(
                job.getVerticesSortedTopologicallyFromSources(),
                UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup());
    }

    /** attachJobGraph with only the connecting on the clock. */
    static void connect(JobGraph job, Clock clock) throws Exception {
        attach(empty(job, new TimedVertices(clock::start, clock::stop)), job);
    }

    static Iterable<ExecutionJobVertex> vertices(Object graph) {
        return ((DefaultExecutionGraph) graph).getVerticesTopologically();
    }

    static int inputCount(ExecutionVertex subtask, int input) {
        return subtask.getConsumedPartitionGroup(input).size();
    }

    static int[] inputPartitions(ExecutionVertex subtask, int input) {
        return numbers(subtask.getConsumedPartitionGroup(input));
    }

    private static int[] numbers(ConsumedPartitionGroup group) {
        int[] partitions = new int[group.size()];
        int i = 0;
        for (var partition : group) {
            partitions[i++] = partition.getPartitionNumber();
        }
        return partitions;
    }

    // --- regions -----------------------------------------------------------------------------------------------------

    static SchedulingTopology topology(DefaultExecutionGraph graph) {
        DefaultExecutionTopology topology = DefaultExecutionTopology.fromExecutionGraph(graph);
        topology.getAllPipelinedRegions();
        return topology;
    }

    static Iterable<? extends SchedulingPipelinedRegion> regions(SchedulingTopology topology) {
        return topology.getAllPipelinedRegions();
    }

    static Iterable<? extends SchedulingExecutionVertex> members(SchedulingPipelinedRegion region) {
        return region.getVertices();
    }

    /** Tasks that were never scheduled are not restarted. */
    static void schedule(DefaultExecutionGraph graph) {
        for (ExecutionVertex subtask : graph.getAllExecutionVertices()) {
            subtask.getCurrentExecutionAttempt().transitionState(ExecutionState.SCHEDULED);
        }
    }

    static RestartPipelinedRegionFailoverStrategy failover(SchedulingTopology topology, boolean available) {
        return new RestartPipelinedRegionFailoverStrategy(topology, partition -> available);
    }

    static Set<ExecutionVertexID> toRestart(RestartPipelinedRegionFailoverStrategy strategy, ExecutionVertex failed) {
        return strategy.getTasksNeedingRestart(failed.getID(), new Exception("a failure"));
    }

    static RegionPartitionGroupReleaseStrategy releases(SchedulingTopology topology) {
        return new RegionPartitionGroupReleaseStrategy(topology);
    }

    /** How many partitions one more finished subtask sets free. */
    static int finished(RegionPartitionGroupReleaseStrategy strategy, ExecutionVertex subtask) {
        int partitions = 0;
        for (ConsumedPartitionGroup group : strategy.vertexFinished(subtask.getID())) {
            partitions += group.size();
        }
        return partitions;
    }

    // --- the stage execution_graph of a RESULT -------------------------------------------------------------------------

    static ObjectNode describe(JobGraph job, DefaultExecutionGraph graph) {
        Subtasks subtasks = new Subtasks(graph.getVerticesTopologically());
        Map<Object, Integer> jobVertices = new HashMap<>();
        job.getVertices().forEach(vertex -> jobVertices.put(vertex.getID(), jobVertices.size()));
        long groups = subtasks.vertices.stream().mapToLong(ExecutionGraphs::groups).sum();
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("total_vertices", subtasks.count);
        out.put("total_edges", subtasks.edges());
        out.put("total_groups", groups);
        ArrayNode vertices = out.putArray("vertices");
        for (ExecutionJobVertex vertex : subtasks.vertices) {
            ObjectNode described = vertices.addObject();
            described.put("job_vertex", jobVertices.get(vertex.getJobVertexId()));
            described.put("parallelism", vertex.getParallelism());
            described.put("max_parallelism", vertex.getMaxParallelism());
            inputs(described.putArray("inputs"), vertex, subtasks, groups <= MAX_LISTED);
            results(described.putArray("results"), vertex, subtasks, groups <= MAX_LISTED);
        }
        out.put("sha256_inputs", subtasks.inputs());
        return out;
    }

    private static long groups(ExecutionJobVertex vertex) {
        long groups = 0;
        for (int input = 0; input < vertex.getInputs().size(); input++) {
            int number = input;
            groups +=
                    java.util.Arrays.stream(vertex.getTaskVertices())
                            .map(subtask -> subtask.getConsumedPartitionGroup(number))
                            .distinct()
                            .count();
        }
        return groups;
    }

    private static void inputs(ArrayNode out, ExecutionJobVertex vertex, Subtasks subtasks, boolean listed) {
        for (int input = 0; input < vertex.getInputs().size(); input++) {
            IntermediateResult result = vertex.getInputs().get(input);
            ObjectNode described = out.addObject();
            described.put("source", subtasks.position(result.getProducer()));
            described.put("result", Subtasks.number(result));
            if (listed) {
                groups(described.putArray("groups"), vertex, input);
            }
        }
    }

    private static void groups(ArrayNode out, ExecutionJobVertex vertex, int input) {
        ConsumedPartitionGroup last = null;
        for (ExecutionVertex subtask : vertex.getTaskVertices()) {
            ConsumedPartitionGroup group = subtask.getConsumedPartitionGroup(input);
            if (group != last) {
                int[] partitions = numbers(group);
                ObjectNode described = out.addObject();
                described.putArray("partitions").add(partitions[0]).add(partitions[partitions.length - 1]);
                int first = subtask.getParallelSubtaskIndex();
                described.putArray("consumers").add(first).add(first + group.getNumConsumers() - 1);
                last = group;
            }
        }
    }

    private static void results(ArrayNode out, ExecutionJobVertex vertex, Subtasks subtasks, boolean listed) {
        for (IntermediateResult result : vertex.getProducedDataSets()) {
            ObjectNode described = out.addObject();
            described.put("type", result.getResultType().name());
            if (listed) {
                ArrayNode partitions = described.putArray("consumer_groups");
                for (IntermediateResultPartition partition : result.getPartitions()) {
                    ArrayNode groups = partitions.addArray();
                    partition.getConsumerVertexGroups().forEach(group -> consumers(groups.addArray(), group, vertex, subtasks));
                }
            }
        }
    }

    private static void consumers(
            ArrayNode out, ConsumerVertexGroup group, ExecutionJobVertex producer, Subtasks subtasks) {
        ExecutionJobVertex consumer = producer.getGraph().getJobVertex(group.getFirst().getJobVertexId());
        int first = group.getFirst().getSubtaskIndex();
        out.add(subtasks.position(consumer)).add(first).add(first + group.size() - 1);
    }
}

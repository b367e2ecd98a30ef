package penstock.peer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.operators.ResourceSpec;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.jobgraph.IntermediateDataSet;
import org.apache.flink.runtime.jobgraph.JobEdge;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobgraph.jsonplan.JsonPlanGenerator;
import org.apache.flink.runtime.jobmanager.scheduler.CoLocationGroup;
import org.apache.flink.runtime.jobmanager.scheduler.SlotSharingGroup;
import org.apache.flink.runtime.rest.util.RestMapperUtils;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.functions.sink.legacy.SinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.graph.GlobalStreamExchangeMode;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamingJobGraphGenerator;
import org.apache.flink.streaming.api.operators.StreamSink;
import org.apache.flink.streaming.api.operators.StreamSource;
import org.apache.flink.streaming.api.transformations.StreamExchangeMode;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;
import org.apache.flink.api.common.JobID;

/** What differs between the two Flinks up to the JobGraph: the side of 2.3. */
public final class Flink {
    public static final String VERSION = "2.3.0";

    private Flink() {}

    static final class Nothing implements SourceFunction<Integer> {
        @Override
        public void run(SourceContext<Integer> context) {}

        @Override
        public void cancel() {}
    }

    static final class Forget implements SinkFunction<Integer> {}

    static StreamSource<Integer, ?> source() {
        return new StreamSource<>(new Nothing());
    }

    static StreamSink<Integer> sink() {
        return new StreamSink<>(new Forget());
    }

    static ResourceSpec resources(Spec.Resources resources) {
        return ResourceSpec.newBuilder(resources.cpu, resources.heapMb)
                .setTaskOffHeapMemoryMB(resources.offHeapMb)
                .setManagedMemoryMB(resources.managedMb)
                .build();
    }

    public static StreamGraph emptyGraph(Spec spec) {
        Spec.Settings settings = spec.settings;
        Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.OPERATOR_CHAINING, spec.chainingEnabled);
        Configuration checkpoints = new Configuration();
        if (settings.checkpointingEnabled) { // not by the setter, which refuses what is below 10 ms
            checkpoints.set(
                    CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(settings.checkpointInterval));
        }
        StreamGraph graph =
                new StreamGraph(
                        configuration,
                        new ExecutionConfig(),
                        new CheckpointConfig(checkpoints),
                        SavepointRestoreSettings.none());
        graph.setJobName(settings.jobName);
        graph.setGlobalStreamExchangeMode(GlobalStreamExchangeMode.valueOf(settings.exchangeMode));
        graph.setAllVerticesInSameSlotSharingGroupByDefault(settings.oneSlotSharingGroup);
        return graph;
    }

    public static void addIteration(StreamGraph graph, Spec.Loop loop) {
        throw new UnsupportedOperationException("Flink 2.3 has no iterations");
    }

    public static void setManagedMemory(StreamGraph graph, int node, Integer weight) {
        if (weight != null && weight > 0) {
            graph.setManagedMemoryUseCaseWeights(node, Map.of(ManagedMemoryUseCase.OPERATOR, weight), Set.of());
        }
    }

    public static void addVirtualPartition(
            StreamGraph graph, int source, int virtual, StreamPartitioner<?> partitioner, String mode) {
        graph.addVirtualPartitionNode(source, virtual, partitioner, StreamExchangeMode.valueOf(mode));
    }

    static String exchangeMode(StreamEdge edge) {
        return edge.getExchangeMode().name();
    }

    /** In this thread alone, so that its CPU time is all there is. */
    static JobGraph jobGraph(StreamGraph graph) {
        graph.setJobId(new JobID(0, 0));
        return StreamingJobGraphGenerator.createJobGraph(graph);
    }

    static String jsonPlan(JobGraph job) {
        try {
            return RestMapperUtils.getStrictObjectMapper().writeValueAsString(JsonPlanGenerator.generatePlan(job));
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    // --- what a RESULT says of 2.3 alone ----------------------------------------------------------------------------

    static void describe(ObjectNode out, JobGraph job, SpecGraphView view) {
        out.put("job_type", job.getJobType().name());
    }

    static void describe(ObjectNode out, JobVertex vertex, StreamConfig config, SpecGraphView view) {
        out.put("operator_pretty_name", vertex.getOperatorPrettyName());
        out.put("parallelism_configured", vertex.isParallelismConfigured());
        out.put("number_of_inputs", config.getNumberOfNetworkInputs());
        out.put("number_of_vertex_outputs", config.getVertexNonChainedOutputs(view.loader()).size());
    }

    static void describe(ObjectNode out, JobEdge edge) {
        out.put("broadcast", edge.isBroadcast());
        out.put("forward", edge.isForward());
        out.put("type_number", edge.getTypeNumber());
    }

    static void describe(ObjectNode out, IntermediateDataSet result) {
        out.put("id", result.getId().toString());
    }

    static void describe(ObjectNode out, StreamConfig operator, SpecGraphView view) {
        String key = "managedMemFraction." + ManagedMemoryUseCase.OPERATOR;
        out.put(
                "managed_memory_fraction_operator",
                operator.getConfiguration()
                        .getOptional(ConfigOptions.key(key).doubleType().noDefaultValue())
                        .orElse(null));
    }

    static void describe(ObjectNode out, SlotSharingGroup group) {
        out.put("name", group.getSlotSharingGroupName());
    }

    static List<JobVertexID> members(CoLocationGroup group) {
        return group.getVertexIds().stream().collect(Collectors.toList());
    }

    /** What tells edges apart once they went through serialisation. */
    static String key(StreamEdge edge) {
        return edge.getEdgeId();
    }
}

package penstock.peer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.operators.ResourceSpec;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.IntermediateDataSet;
import org.apache.flink.runtime.jobgraph.JobEdge;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobgraph.ScheduleMode;
import org.apache.flink.runtime.jobgraph.jsonplan.JsonPlanGenerator;
import org.apache.flink.runtime.jobgraph.tasks.JobCheckpointingSettings;
import org.apache.flink.runtime.jobmanager.scheduler.CoLocationGroup;
import org.apache.flink.runtime.jobmanager.scheduler.SlotSharingGroup;
import org.apache.flink.streaming.api.TimeCharacteristic;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.functions.sink.SinkFunction;
import org.apache.flink.streaming.api.functions.source.SourceFunction;
import org.apache.flink.streaming.api.graph.GlobalDataExchangeMode;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.graph.StreamingJobGraphGenerator;
import org.apache.flink.streaming.api.operators.StreamSink;
import org.apache.flink.streaming.api.operators.StreamSource;
import org.apache.flink.streaming.api.transformations.ShuffleMode;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;

/** What differs between the two Flinks up to the JobGraph: the side of 1.11. */
public final class Flink {
    public static final String VERSION = "1.11.4";

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
                .setOffTaskHeapMemoryMB(resources.offHeapMb)
                .setManagedMemoryMB(resources.managedMb)
                .build();
    }

    public static StreamGraph emptyGraph(Spec spec) {
        Spec.Settings settings = spec.settings;
        StreamGraph graph = new StreamGraph(new ExecutionConfig(), checkpoints(settings), SavepointRestoreSettings.none());
        graph.setJobName(settings.jobName);
        graph.setChaining(spec.chainingEnabled);
        graph.setScheduleMode(ScheduleMode.valueOf(settings.scheduleMode));
        graph.setTimeCharacteristic(TimeCharacteristic.ProcessingTime);
        graph.setGlobalDataExchangeMode(GlobalDataExchangeMode.valueOf(settings.exchangeMode));
        graph.setAllVerticesInSameSlotSharingGroupByDefault(settings.oneSlotSharingGroup);
        graph.setUserArtifacts(List.of());
        return graph;
    }

    @SuppressWarnings("deprecation")
    private static CheckpointConfig checkpoints(Spec.Settings settings) {
        CheckpointConfig config = new CheckpointConfig();
        config.setForceCheckpointing(settings.forceCheckpointing);
        if (settings.checkpointingEnabled) {
            try { // the setter refuses what is below 10 ms; the planner does not
                Field interval = CheckpointConfig.class.getDeclaredField("checkpointInterval");
                interval.setAccessible(true);
                interval.setLong(config, settings.checkpointInterval);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
        return config;
    }

    public static void addIteration(StreamGraph graph, Spec.Loop loop) {
        graph.createIterationSourceAndSink(
                loop.loopId,
                loop.sourceId,
                loop.sinkId,
                loop.timeout,
                loop.parallelism,
                loop.maxParallelism,
                ResourceSpec.UNKNOWN,
                ResourceSpec.UNKNOWN);
        for (int id : new int[] {loop.sourceId, loop.sinkId}) {
            StreamNode node = graph.getStreamNode(id);
            node.setSlotSharingGroup(loop.slotSharingGroup);
        }
    }

    public static void setManagedMemory(StreamGraph graph, int node, Integer weight) {
        if (weight != null) {
            graph.setManagedMemoryWeight(node, weight);
        }
    }

    public static void addVirtualPartition(
            StreamGraph graph, int source, int virtual, StreamPartitioner<?> partitioner, String mode) {
        graph.addVirtualPartitionNode(source, virtual, partitioner, ShuffleMode.valueOf(mode));
    }

    static String exchangeMode(StreamEdge edge) {
        return edge.getShuffleMode().name();
    }

    static JobGraph jobGraph(StreamGraph graph) {
        return StreamingJobGraphGenerator.createJobGraph(graph, new JobID(0, 0));
    }

    static String jsonPlan(JobGraph job) {
        return JsonPlanGenerator.generatePlan(job);
    }

    // --- what a RESULT says of 1.11 alone ---------------------------------------------------------------------------

    static void describe(ObjectNode out, JobGraph job, SpecGraphView view) {
        out.put("schedule_mode", job.getScheduleMode().name());
        JobCheckpointingSettings settings = job.getCheckpointingSettings();
        ObjectNode checkpointing = out.putObject("checkpointing");
        checkpointing.put(
                "interval", settings.getCheckpointCoordinatorConfiguration().getCheckpointInterval());
        list(checkpointing.putArray("trigger"), settings.getVerticesToTrigger(), view);
        list(checkpointing.putArray("acknowledge"), settings.getVerticesToAcknowledge(), view);
        list(checkpointing.putArray("confirm"), settings.getVerticesToConfirm(), view);
        ArrayNode timeouts = out.putArray("edge_buffer_timeouts");
        view.graph().edges.forEach(edge -> timeouts.add(edge.getBufferTimeout()));
    }

    private static void list(ArrayNode out, List<JobVertexID> ids, SpecGraphView view) {
        ids.forEach(id -> out.add(view.vertex(id)));
    }

    static void describe(ObjectNode out, JobVertex vertex, StreamConfig config, SpecGraphView view) {
        out.put("number_of_inputs", config.getNumberOfInputs());
        view.edges(out.putArray("out_edges"), config.getOutEdgesInOrder(view.loader()));
        out.put("checkpointing_enabled", config.isCheckpointingEnabled());
        out.put("checkpoint_mode", config.getCheckpointMode().name());
    }

    static void describe(ObjectNode out, JobEdge edge) {}

    static void describe(ObjectNode out, IntermediateDataSet result) {}

    static void describe(ObjectNode out, StreamConfig operator, SpecGraphView view) {
        out.put("managed_memory_fraction", operator.getManagedMemoryFraction());
        view.edges(out.putArray("non_chained_outputs"), operator.getNonChainedOutputs(view.loader()));
    }

    static void describe(ObjectNode out, SlotSharingGroup group) {
        out.set("resources", JobGraphResult.resources(group.getResourceSpec()));
    }

    static List<JobVertexID> members(CoLocationGroup group) {
        return group.getVertices().stream().map(JobVertex::getID).toList();
    }

    /** What tells edges apart once they went through serialisation. */
    static String key(StreamEdge edge) {
        return edge.getSourceId() + " " + edge.getTargetId() + " " + edge.getTypeNumber() + " " + edge.getPartitioner();
    }
}

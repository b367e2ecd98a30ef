package penstock.peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.operators.ResourceSpec;
import org.apache.flink.runtime.OperatorIDPair;
import org.apache.flink.runtime.jobgraph.IntermediateDataSet;
import org.apache.flink.runtime.jobgraph.JobEdge;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobmanager.scheduler.CoLocationGroup;
import org.apache.flink.runtime.jobmanager.scheduler.SlotSharingGroup;
import org.apache.flink.streaming.api.graph.SpecGraph;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;

/** The stage {@code job_graph} of a RESULT. */
final class JobGraphResult {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final JobGraph job;
    private final SpecGraphView view;
    private final Numbers<SlotSharingGroup> slotSharingGroups = new Numbers<>();
    private final Numbers<CoLocationGroup> coLocationGroups = new Numbers<>();

    private JobGraphResult(JobGraph job, SpecGraphView view) {
        this.job = job;
        this.view = view;
    }

    /** Objects numbered by first appearance. */
    static final class Numbers<T> {
        final List<T> objects = new ArrayList<>();
        private final Map<T, Integer> numbers = new IdentityHashMap<>();

        int of(T object) {
            return numbers.computeIfAbsent(
                    object,
                    key -> {
                        objects.add(key);
                        return objects.size() - 1;
                    });
        }
    }

    static ObjectNode of(JobGraph job, SpecGraph graph, Map<Integer, byte[]> hashes) {
        return new JobGraphResult(job, new SpecGraphView(graph, job, hashes)).describe();
    }

    private ObjectNode describe() {
        ObjectNode out = JSON.objectNode();
        out.put("name", job.getName());
        out.put("maximum_parallelism", job.getMaximumParallelism());
        ArrayNode vertices = out.putArray("vertices");
        for (JobVertex vertex : job.getVertices()) {
            vertices.add(vertex(vertex));
        }
        ArrayNode slots = out.putArray("slot_sharing_groups");
        for (SlotSharingGroup group : slotSharingGroups.objects) {
            ObjectNode described = slots.addObject();
            ArrayNode members = described.putArray("vertices");
            group.getJobVertexIds().forEach(id -> members.add(view.vertex(id)));
            Flink.describe(described, group);
        }
        ArrayNode together = out.putArray("co_location_groups");
        for (CoLocationGroup group : coLocationGroups.objects) {
            ArrayNode members = together.addArray();
            Flink.members(group).forEach(id -> members.add(view.vertex(id)));
        }
        out.set("topological_order", Result.attempt(this::topologicalOrder));
        out.put("json_plan", Flink.jsonPlan(job));
        Flink.describe(out, job, view);
        return out;
    }

    private ArrayNode topologicalOrder() {
        ArrayNode order = JSON.arrayNode();
        job.getVerticesSortedTopologicallyFromSources().forEach(vertex -> order.add(view.vertex(vertex.getID())));
        return order;
    }

    private ObjectNode vertex(JobVertex vertex) {
        ObjectNode out = JSON.objectNode();
        StreamConfig config = new StreamConfig(vertex.getConfiguration());
        out.put("id", vertex.getID().toString());
        out.put("head", view.node(vertex.getID().toString()));
        out.put("name", vertex.getName());
        out.put("parallelism", vertex.getParallelism());
        out.put("max_parallelism", vertex.getMaxParallelism());
        String invokable = vertex.getInvokableClassName();
        out.put("invokable", invokable.substring(invokable.lastIndexOf('.') + 1));
        ArrayNode ids = out.putArray("operator_ids");
        ArrayNode nodes = out.putArray("operator_nodes");
        for (OperatorIDPair pair : vertex.getOperatorIDs()) {
            String id = pair.getGeneratedOperatorID().toString();
            ids.addArray().add(id).add(pair.getUserDefinedOperatorID().map(Object::toString).orElse(null));
            nodes.add(view.node(id));
        }
        out.put("slot_sharing_group", slotSharingGroups.of(vertex.getSlotSharingGroup()));
        CoLocationGroup together = vertex.getCoLocationGroup();
        out.put("co_location_group", together == null ? null : coLocationGroups.of(together));
        out.set("min_resources", resources(vertex.getMinResources()));
        out.set("preferred_resources", resources(vertex.getPreferredResources()));
        ArrayNode inputs = out.putArray("inputs");
        vertex.getInputs().forEach(edge -> inputs.add(input(edge)));
        ArrayNode results = out.putArray("results");
        vertex.getProducedDataSets().forEach(result -> results.add(result(result)));
        view.edges(out.putArray("in_edges"), config.getInPhysicalEdges(view.loader()));
        out.set("chain", chain(config));
        Flink.describe(out, vertex, config, view);
        return out;
    }

    private ObjectNode input(JobEdge edge) {
        ObjectNode out = JSON.objectNode();
        JobVertex producer = edge.getSource().getProducer();
        out.put("source", view.vertex(producer.getID()));
        out.put("result", producer.getProducedDataSets().indexOf(edge.getSource()));
        out.put("distribution", edge.getDistributionPattern().name());
        out.put("result_type", edge.getSource().getResultType().name());
        out.put("ship_strategy", edge.getShipStrategyName());
        Flink.describe(out, edge);
        return out;
    }

    private ObjectNode result(IntermediateDataSet result) {
        ObjectNode out = JSON.objectNode();
        out.put("type", result.getResultType().name());
        ArrayNode consumers = out.putArray("consumers");
        for (JobEdge edge : result.getConsumers()) {
            JobVertex consumer = edge.getTarget();
            consumers.addArray().add(view.vertex(consumer.getID())).add(consumer.getInputs().indexOf(edge));
        }
        Flink.describe(out, result);
        return out;
    }

    /** Pre-order from the head over the chained outputs. */
    private ArrayNode chain(StreamConfig head) {
        ArrayNode out = JSON.arrayNode();
        Map<Integer, StreamConfig> chained = head.getTransitiveChainedTaskConfigs(view.loader());
        Deque<StreamConfig> stack = new ArrayDeque<>(List.of(head));
        while (!stack.isEmpty()) {
            StreamConfig operator = stack.pop();
            List<StreamEdge> outputs = operator.getChainedOutputs(view.loader());
            out.add(operator(operator, outputs));
            for (int i = outputs.size() - 1; i >= 0; i--) {
                stack.push(chained.get(outputs.get(i).getTargetId()));
            }
        }
        return out;
    }

    private ObjectNode operator(StreamConfig operator, List<StreamEdge> outputs) {
        ObjectNode out = JSON.objectNode();
        String id = operator.getOperatorID().toString();
        out.put("node", view.node(id));
        out.put("operator_id", id);
        out.put("operator_name", operator.getOperatorName());
        out.put("chain_index", operator.getChainIndex());
        out.put("chain_start", operator.isChainStart());
        out.put("chain_end", operator.isChainEnd());
        view.edges(out.putArray("chained_outputs"), outputs);
        out.put("number_of_outputs", operator.getNumberOfOutputs());
        Flink.describe(out, operator, view);
        return out;
    }

    static JsonNode resources(ResourceSpec resources) {
        if (resources.equals(ResourceSpec.UNKNOWN)) {
            return NullNode.instance;
        }
        ObjectNode out = JSON.objectNode();
        out.put("cpu", resources.getCpuCores().getValue().doubleValue());
        out.put("heap_mb", resources.getTaskHeapMemory().getBytes() >> 20);
        out.put("off_heap_mb", resources.getTaskOffHeapMemory().getBytes() >> 20);
        out.put("managed_mb", resources.getManagedMemory().getBytes() >> 20);
        return out;
    }
}

package penstock.peer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.apache.flink.runtime.OperatorIDPair;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.ExecutionVertex;
import org.apache.flink.runtime.jobgraph.DistributionPattern;
import org.apache.flink.runtime.jobgraph.IntermediateDataSet;
import org.apache.flink.runtime.jobgraph.JobEdge;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobmanager.scheduler.CoLocationGroup;
import org.apache.flink.runtime.jobmanager.scheduler.SlotSharingGroup;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.runtime.scheduler.strategy.SchedulingExecutionVertex;
import org.apache.flink.runtime.scheduler.strategy.SchedulingPipelinedRegion;
import org.apache.flink.runtime.scheduler.strategy.SchedulingTopology;

/** What two planners must agree on, in a few bytes. Definitions: README.md; the other implementation: checksums.py. */
final class Checksums {
    private static final List<String> SHIP_STRATEGIES =
            List.of("FORWARD", "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH", "CUSTOM");
    private static final List<String> RESULT_TYPES = List.of("BLOCKING", "PIPELINED_BOUNDED");
    private static final int FAILURES = 16;

    private Checksums() {}

    static ObjectNode hashes(Map<Integer, byte[]> hashes) {
        Subtasks.Sha sha = new Subtasks.Sha();
        new TreeMap<>(hashes).forEach((node, hash) -> sha.ints(node).bytes(hash));
        return object().put("nodes", hashes.size()).put("sha256", sha.hex());
    }

    // --- JobGraph ----------------------------------------------------------------------------------------------------

    static ObjectNode jobGraph(JobGraph job, Map<Integer, byte[]> hashes) {
        List<JobVertex> vertices = new ArrayList<>();
        job.getVertices().forEach(vertices::add);
        Subtasks.Sha sha = new Subtasks.Sha().ints(vertices.size());
        vertices.forEach(vertex -> sha.bytes(vertex.getID().getBytes()));
        vertices.forEach(vertex -> sha.ints(vertex.getParallelism()));
        vertices.forEach(vertex -> sha.ints(vertex.getMaxParallelism()));
        JobGraphResult.Numbers<SlotSharingGroup> slots = new JobGraphResult.Numbers<>();
        vertices.forEach(vertex -> sha.ints(slots.of(vertex.getSlotSharingGroup())));
        JobGraphResult.Numbers<CoLocationGroup> together = new JobGraphResult.Numbers<>();
        vertices.forEach(
                vertex -> sha.ints(vertex.getCoLocationGroup() == null ? -1 : together.of(vertex.getCoLocationGroup())));
        vertices.forEach(vertex -> sha.ints(vertex.getName().getBytes(StandardCharsets.UTF_8).length));
        vertices.forEach(vertex -> sha.bytes(vertex.getName().getBytes(StandardCharsets.UTF_8)));
        operators(sha, vertices, hashes);
        int edges = edges(sha, vertices);
        return object().put("vertices", vertices.size()).put("edges", edges).put("sha256", sha.hex());
    }

    private static void operators(Subtasks.Sha sha, List<JobVertex> vertices, Map<Integer, byte[]> hashes) {
        Map<OperatorID, Integer> nodes = new HashMap<>();
        hashes.forEach((node, hash) -> nodes.put(new OperatorID(hash), node));
        vertices.forEach(vertex -> sha.ints(vertex.getOperatorIDs().size()));
        for (JobVertex vertex : vertices) {
            List<OperatorIDPair> pairs = new ArrayList<>(vertex.getOperatorIDs());
            pairs.sort(Comparator.comparing(pair -> nodes.get(pair.getGeneratedOperatorID())));
            for (OperatorIDPair pair : pairs) {
                sha.ints(nodes.get(pair.getGeneratedOperatorID())).bytes(pair.getGeneratedOperatorID().getBytes());
                sha.bytes(pair.getUserDefinedOperatorID().map(OperatorID::getBytes).orElse(new byte[16]));
            }
        }
    }

    private static int edges(Subtasks.Sha sha, List<JobVertex> vertices) {
        Map<JobVertex, Integer> positions = new IdentityHashMap<>();
        Map<IntermediateDataSet, Integer> results = new IdentityHashMap<>();
        Map<JobEdge, Integer> inputs = new IdentityHashMap<>();
        List<JobEdge> edges = new ArrayList<>();
        for (JobVertex vertex : vertices) {
            positions.put(vertex, positions.size());
            for (int i = 0; i < vertex.getProducedDataSets().size(); i++) {
                results.put(vertex.getProducedDataSets().get(i), i);
            }
            for (int i = 0; i < vertex.getInputs().size(); i++) {
                inputs.put(vertex.getInputs().get(i), i);
                edges.add(vertex.getInputs().get(i));
            }
        }
        sha.ints(edges.size());
        List<ToIntFunction<JobEdge>> columns =
                List.of(
                        edge -> positions.get(edge.getTarget()),
                        inputs::get,
                        edge -> positions.get(edge.getSource().getProducer()),
                        edge -> results.get(edge.getSource()),
                        edge -> edge.getDistributionPattern() == DistributionPattern.POINTWISE ? 1 : 0,
                        edge -> RESULT_TYPES.indexOf(edge.getSource().getResultType().name()),
                        edge -> SHIP_STRATEGIES.indexOf(edge.getShipStrategyName()));
        columns.forEach(column -> edges.forEach(edge -> sha.ints(column.applyAsInt(edge))));
        return edges.size();
    }

    // --- ExecutionGraph ------------------------------------------------------------------------------------------------

    static ObjectNode executionGraph(Subtasks subtasks) {
        long edges = subtasks.edges();
        ObjectNode out = object().put("vertices", subtasks.vertices.size()).put("subtasks", subtasks.count);
        out.put("edges", edges);
        boolean few = edges <= Long.getLong("max_edges", 20_000_000L);
        return out.put("sha256_inputs", few ? subtasks.inputs() : null);
    }

    static ObjectNode regions(SchedulingTopology topology, Subtasks subtasks) {
        Map<ExecutionVertexID, Integer> numbers = subtasks.numbers();
        int[] labels = new int[subtasks.count];
        int count = 0;
        for (SchedulingPipelinedRegion region : ExecutionGraphs.regions(topology)) {
            int label = Integer.MAX_VALUE;
            for (SchedulingExecutionVertex member : ExecutionGraphs.members(region)) {
                label = Math.min(label, numbers.get(member.getId()));
            }
            for (SchedulingExecutionVertex member : ExecutionGraphs.members(region)) {
                labels[numbers.get(member.getId())] = label;
            }
            count++;
        }
        return object().put("regions", count).put("sha256", new Subtasks.Sha().ints(labels).hex());
    }

    static ObjectNode restarts(SchedulingTopology topology, Subtasks subtasks) {
        Map<ExecutionVertexID, Integer> numbers = subtasks.numbers();
        ObjectNode out = object();
        ArrayNode counts = out.putArray("tasks");
        Subtasks.Sha sha = new Subtasks.Sha();
        for (boolean available : new boolean[] {true, false}) {
            var strategy = ExecutionGraphs.failover(topology, available);
            for (ExecutionJobVertex vertex : subtasks.vertices.subList(0, Math.min(FAILURES, subtasks.vertices.size()))) {
                Set<ExecutionVertexID> tasks = ExecutionGraphs.toRestart(strategy, vertex.getTaskVertices()[0]);
                counts.add(tasks.size());
                int[] sorted = tasks.stream().mapToInt(numbers::get).toArray();
                Arrays.sort(sorted);
                sha.ints(sorted.length).ints(sorted);
            }
        }
        return out.put("sha256", sha.hex());
    }

    static ObjectNode releases(SchedulingTopology topology, Subtasks subtasks) {
        var strategy = ExecutionGraphs.releases(topology);
        Subtasks.Sha sha = new Subtasks.Sha();
        long total = 0;
        for (ExecutionJobVertex vertex : subtasks.vertices) {
            for (ExecutionVertex subtask : vertex.getTaskVertices()) {
                int partitions = ExecutionGraphs.finished(strategy, subtask);
                total += partitions;
                if (partitions > 0) {
                    sha.ints(subtasks.number(subtask), partitions);
                }
            }
        }
        return object().put("partitions", total).put("sha256", sha.hex());
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}

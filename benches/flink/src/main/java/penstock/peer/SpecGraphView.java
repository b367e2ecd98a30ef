package penstock.peer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.streaming.api.graph.SpecGraph;
import org.apache.flink.streaming.api.graph.StreamEdge;

/** From Flink's objects back to numbers of the SPEC and of the job: node ids, edge positions, vertex positions. */
final class SpecGraphView {
    private final SpecGraph graph;
    private final Map<String, Integer> nodeOfHash = new HashMap<>();
    private final Map<String, List<Integer>> edgesOfKey = new HashMap<>();
    private final Map<JobVertexID, Integer> vertices = new HashMap<>();

    SpecGraphView(SpecGraph graph, JobGraph job, Map<Integer, byte[]> hashes) {
        this.graph = graph;
        hashes.forEach((node, hash) -> nodeOfHash.put(Hex.of(hash), node));
        for (int i = 0; i < graph.edges.size(); i++) {
            edgesOfKey.computeIfAbsent(Flink.key(graph.edges.get(i)), key -> new ArrayList<>()).add(i);
        }
        for (JobVertex vertex : job.getVertices()) {
            vertices.put(vertex.getID(), vertices.size());
        }
    }

    SpecGraph graph() {
        return graph;
    }

    ClassLoader loader() {
        return SpecGraphView.class.getClassLoader();
    }

    /** Generated ids are unique: two nodes never have the same inputs and the same number. */
    int node(String hash) {
        return nodeOfHash.get(hash);
    }

    int vertex(JobVertexID id) {
        return vertices.get(id);
    }

    /** Configurations hold copies. Edges with one key always come in the order of their SPEC, so the n-th is the n-th. */
    void edges(ArrayNode out, List<StreamEdge> edges) {
        Map<String, Integer> seen = new HashMap<>();
        for (StreamEdge edge : edges) {
            String key = Flink.key(edge);
            List<Integer> positions = edgesOfKey.get(key);
            out.add(positions.get((seen.merge(key, 1, Integer::sum) - 1) % positions.size()));
        }
    }
}

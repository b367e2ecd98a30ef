package penstock.peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.graph.SpecGraph;
import org.apache.flink.streaming.api.graph.StreamEdge;

/** All that is deterministic in what Flink makes of one SPEC. */
final class Result {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private Result() {}

    /** What {@code work} returns, or the error object of what it throws. */
    static JsonNode attempt(Callable<JsonNode> work) {
        try {
            return work.call();
        } catch (Throwable thrown) {
            return error(thrown);
        }
    }

    static ObjectNode error(Throwable thrown) {
        ObjectNode out = JSON.objectNode();
        ObjectNode error = out.putObject("error");
        error.put("class", thrown.getClass().getName());
        error.put("message", thrown.getMessage());
        if (thrown.getCause() != null) {
            error.put("cause_class", thrown.getCause().getClass().getName());
            error.put("cause_message", thrown.getCause().getMessage());
        }
        return out;
    }

    static ObjectNode of(Spec spec) {
        ObjectNode out = JSON.objectNode();
        out.put("name", spec.name);
        out.put("flink", Flink.VERSION);
        SpecGraph graph;
        try {
            graph = new SpecGraph(spec);
        } catch (Throwable thrown) {
            out.set("stream_graph", error(thrown));
            return out;
        }
        out.set("stream_graph", streamGraph(graph));
        out.set("hashes", attempt(() -> hashes(graph)));
        out.set("streaming_plan", attempt(() -> TextNode.valueOf(graph.graph.getStreamingPlanAsJSON())));
        JobGraph job;
        try {
            job = Flink.jobGraph(graph.graph);
        } catch (Throwable thrown) {
            out.set("job_graph", error(thrown));
            return out;
        }
        out.set("job_graph", JobGraphResult.of(job, graph, graph.hashes()));
        out.set("execution_graph", attempt(() -> ExecutionGraphs.describe(job, ExecutionGraphs.attach(job))));
        return out;
    }

    private static ObjectNode streamGraph(SpecGraph graph) {
        ObjectNode out = JSON.objectNode();
        ArrayNode edges = out.putArray("edges");
        for (StreamEdge edge : graph.edges) {
            ObjectNode described = edges.addObject();
            described.put("partitioner", edge.getPartitioner().toString());
            described.put("shuffle_mode", Flink.exchangeMode(edge));
            described.put("buffer_timeout", edge.getBufferTimeout());
            described.put("chainable", graph.chainable(edge));
        }
        ArrayNode sources = out.putArray("source_ids");
        graph.graph.getSourceIDs().forEach(sources::add);
        return out;
    }

    private static ObjectNode hashes(SpecGraph graph) {
        ObjectNode out = JSON.objectNode();
        Map<Integer, byte[]> sorted = new TreeMap<>(graph.hashes());
        sorted.forEach((node, hash) -> out.put(String.valueOf(node), Hex.of(hash)));
        return out;
    }
}

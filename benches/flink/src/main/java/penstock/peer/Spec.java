package penstock.peer;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A graph description (SPEC, see docs/planning.md), read node by node so that a million of them is no problem. */
public final class Spec {
    public String name = "";
    public boolean chainingEnabled = true;
    public Settings settings = new Settings();
    public final List<Node> nodes = new ArrayList<>();
    public final List<Edge> edges = new ArrayList<>();
    public final List<Loop> iterations = new ArrayList<>();

    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Settings {
        public @JsonProperty("job_name") String jobName = "job";
        public @JsonProperty("exchange_mode") String exchangeMode = "ALL_EDGES_PIPELINED";
        public @JsonProperty("schedule_mode") String scheduleMode = "EAGER";
        public @JsonProperty("checkpointing_enabled") boolean checkpointingEnabled;
        public @JsonProperty("checkpoint_interval") long checkpointInterval = 1000;
        public @JsonProperty("force_checkpointing") boolean forceCheckpointing;
        public @JsonProperty("all_vertices_in_same_slot_sharing_group") boolean oneSlotSharingGroup = true;
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Node {
        public int id;
        public String name;
        public String kind;
        public String uid;
        public @JsonProperty("user_hash") String userHash;
        public @JsonProperty("slot_sharing_group") String slotSharingGroup = "default";
        public @JsonProperty("co_location_group") String coLocationGroup;
        public int parallelism = -1;
        public @JsonProperty("max_parallelism") int maxParallelism = -1;
        public @JsonProperty("chaining_strategy") String chainingStrategy = "ALWAYS";
        public boolean yielding;
        public @JsonProperty("managed_memory_weight") Integer managedMemoryWeight;
        public @JsonProperty("buffer_timeout") long bufferTimeout = -1;
        public @JsonProperty("min_resources") Resources minResources;
        public @JsonProperty("preferred_resources") Resources preferredResources;
    }

    public static final class Resources {
        public double cpu;
        public @JsonProperty("heap_mb") int heapMb;
        public @JsonProperty("off_heap_mb") int offHeapMb;
        public @JsonProperty("managed_mb") int managedMb;
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Edge {
        public int source;
        public int target;
        public String partitioner;
        public @JsonProperty("shuffle_mode") String shuffleMode = "UNDEFINED";
        public int input;
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Loop {
        public @JsonProperty("loop_id") int loopId;
        public @JsonProperty("source_id") int sourceId;
        public @JsonProperty("sink_id") int sinkId;
        public int parallelism = -1;
        public @JsonProperty("max_parallelism") int maxParallelism = -1;
        public long timeout;
        public @JsonProperty("slot_sharing_group") String slotSharingGroup = "default";
    }

    private static final ObjectMapper MAPPER =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    /** A parser over any number of SPECs, one after the other. */
    public static JsonParser parser(java.io.InputStream input) throws IOException {
        return MAPPER.getFactory().createParser(input);
    }

    /** The next SPEC, or null at the end. */
    public static Spec next(JsonParser parser) throws IOException {
        JsonToken start = parser.nextToken();
        if (start == null) {
            return null;
        }
        Spec spec = new Spec();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String member = parser.currentName();
            parser.nextToken();
            spec.read(member, parser);
        }
        return spec;
    }

    private void read(String member, JsonParser parser) throws IOException {
        switch (member) {
            case "name" -> name = parser.getText();
            case "chaining_enabled" -> chainingEnabled = parser.getBooleanValue();
            case "settings" -> settings = parser.readValueAs(Settings.class);
            case "nodes" -> readAll(parser, Node.class, nodes);
            case "edges" -> readAll(parser, Edge.class, edges);
            case "iterations" -> readAll(parser, Loop.class, iterations);
            default -> parser.skipChildren();
        }
    }

    private static <T> void readAll(JsonParser parser, Class<T> type, List<T> into) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            into.add(parser.readValueAs(type));
        }
    }
}

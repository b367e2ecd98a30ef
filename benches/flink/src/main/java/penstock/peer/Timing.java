package penstock.peer;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.PrintStream;
import java.util.List;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.ExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.scheduler.strategy.SchedulingTopology;
import org.apache.flink.streaming.api.graph.SpecGraph;

/** Runs phases on one SPEC, some rounds each, and prints a line of JSON per phase: times of every round, a checksum. */
final class Timing {
    /** What a phase does in one round: set-up, then work between start and stop; returns what the checksum needs. */
    private interface Phase {
        Object round(Clock clock) throws Exception;
    }

    private static final int ROUNDS = Integer.getInteger("rounds", 3);
    private static final long WARM_NANOS = Long.getLong("warm_ms", 3000) * 1_000_000L;

    private final Spec spec;
    private JobGraph job;

    private Timing(Spec spec) {
        this.spec = spec;
    }

    static void run(String path, List<String> phases, PrintStream out) throws Exception {
        String smaller = System.getProperty("warm");
        if (smaller != null) {
            Timing warm = new Timing(read(smaller));
            for (String phase : phases) {
                warm.measure(phase, 0);
            }
        }
        Timing timing = new Timing(read(path));
        for (String phase : phases) {
            out.println(timing.measure(phase, ROUNDS));
            out.flush();
        }
    }

    private static Spec read(String path) throws Exception {
        try (JsonParser parser = Spec.parser(new BufferedInputStream(new FileInputStream(path), 1 << 20))) {
            return Spec.next(parser);
        }
    }

    private ObjectNode measure(String name, int rounds) {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("phase", name);
        out.put("nodes", spec.nodes.size());
        out.put("edges", spec.edges.size());
        try {
            Phase phase = phase(name);
            warm(phase, rounds == 0 || System.getProperty("warm") == null);
            ArrayNode wall = out.putArray("wall_ms");
            ArrayNode cpu = out.putArray("cpu_ms");
            Object last = null;
            long before = used();
            for (int round = 0; round < rounds; round++) {
                last = null;
                System.gc();
                Clock clock = new Clock();
                last = phase.round(clock);
                wall.add(clock.wallMs());
                cpu.add(clock.cpuMs());
            }
            if (name.equals("execution_graph") && rounds > 0) {
                out.put("heap_mb", (used() - before) / 1048576.0);
            }
            if (rounds > 0) {
                out.set("checksum", checksum(name, last));
            }
        } catch (Throwable thrown) {
            job = null;
            out.put("died", thrown.getClass().getName() + ": " + thrown.getMessage());
        }
        return out;
    }

    private static void warm(Phase phase, boolean here) throws Exception {
        long end = System.nanoTime() + WARM_NANOS;
        for (int round = 0; here && round < 2000 && System.nanoTime() < end; round++) {
            phase.round(new Clock());
        }
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private JobGraph job() {
        if (job == null) {
            job = Flink.jobGraph(new SpecGraph(spec).graph);
        }
        return job;
    }

    // --- the phases ----------------------------------------------------------------------------------------------------

    private Phase phase(String name) throws Exception {
        return switch (name) {
            case "hash" -> this::hash;
            case "job_graph" -> this::jobGraph;
            case "serialisation" -> clock -> Serialisation.of(job(), clock);
            case "execution_graph" -> this::executionGraph;
            case "connect" -> clock -> {
                ExecutionGraphs.connect(job(), clock);
                return null;
            };
            case "regions" -> regions();
            case "restart" -> restart();
            case "release" -> release();
            default -> throw new IllegalArgumentException("phase " + name);
        };
    }

    private Object hash(Clock clock) {
        SpecGraph graph = new SpecGraph(spec);
        clock.start();
        var hashes = graph.hashes();
        clock.stop();
        return hashes;
    }

    private Object jobGraph(Clock clock) {
        job = null;
        SpecGraph graph = new SpecGraph(spec);
        clock.start();
        JobGraph made = Flink.jobGraph(graph.graph);
        clock.stop();
        job = made;
        return made;
    }

    private Object executionGraph(Clock clock) throws Exception {
        var graph = ExecutionGraphs.empty(job());
        clock.start();
        ExecutionGraphs.attach(graph, job());
        clock.stop();
        return graph;
    }

    private record Scheduled(SchedulingTopology topology, Subtasks subtasks) {}

    private Phase regions() throws Exception {
        var graph = ExecutionGraphs.attach(job());
        Subtasks subtasks = new Subtasks(graph.getVerticesTopologically());
        return clock -> {
            clock.start();
            SchedulingTopology topology = ExecutionGraphs.topology(graph);
            clock.stop();
            return new Scheduled(topology, subtasks);
        };
    }

    private Phase restart() throws Exception {
        var graph = ExecutionGraphs.attach(job());
        ExecutionGraphs.schedule(graph);
        Scheduled all = new Scheduled(graph.getSchedulingTopology(), new Subtasks(graph.getVerticesTopologically()));
        var strategy = ExecutionGraphs.failover(all.topology, true);
        ExecutionVertex failed = all.subtasks.vertices.get(0).getTaskVertices()[0];
        return clock -> {
            clock.start();
            ExecutionGraphs.toRestart(strategy, failed);
            clock.stop();
            return all;
        };
    }

    private Phase release() throws Exception {
        var graph = ExecutionGraphs.attach(job());
        Scheduled all = new Scheduled(graph.getSchedulingTopology(), new Subtasks(graph.getVerticesTopologically()));
        return clock -> {
            var strategy = ExecutionGraphs.releases(all.topology);
            clock.start();
            for (ExecutionJobVertex vertex : all.subtasks.vertices) {
                for (ExecutionVertex subtask : vertex.getTaskVertices()) {
                    ExecutionGraphs.finished(strategy, subtask);
                }
            }
            clock.stop();
            return all;
        };
    }

    @SuppressWarnings("unchecked")
    private ObjectNode checksum(String name, Object last) {
        return switch (name) {
            case "hash" -> Checksums.hashes((java.util.Map<Integer, byte[]>) last);
            case "job_graph" -> Checksums.jobGraph((JobGraph) last, new SpecGraph(spec).hashes());
            case "serialisation" -> JsonNodeFactory.instance.objectNode().put("bytes", (long) last);
            case "execution_graph" -> Checksums.executionGraph(new Subtasks(ExecutionGraphs.vertices(last)));
            case "regions" -> Checksums.regions(((Scheduled) last).topology, ((Scheduled) last).subtasks);
            case "restart" -> Checksums.restarts(((Scheduled) last).topology, ((Scheduled) last).subtasks);
            case "release" -> Checksums.releases(((Scheduled) last).topology, ((Scheduled) last).subtasks);
            default -> null;
        };
    }
}

package org.apache.flink.streaming.api.graph;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.BasicTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;
import penstock.peer.Flink;
import penstock.peer.Operators;
import penstock.peer.Spec;

/** A SPEC as a real StreamGraph. In Flink's package, because uid and user hash can be set from nowhere else. */
public final class SpecGraph {
    private static final TypeInformation<Integer> INT = BasicTypeInfo.INT_TYPE_INFO;

    public final Spec spec;
    public final StreamGraph graph;
    /** In the order of the SPEC's edges. */
    public final List<StreamEdge> edges;

    private final Set<Integer> ids = new HashSet<>();
    private int nextVirtualId = 0;

    public SpecGraph(Spec spec) {
        this.spec = spec;
        this.graph = Flink.emptyGraph(spec);
        this.edges = new ArrayList<>(spec.edges.size());
        spec.nodes.forEach(this::add);
        spec.iterations.forEach(
                loop -> {
                    ids.add(loop.sourceId);
                    ids.add(loop.sinkId);
                    Flink.addIteration(graph, loop);
                });
        spec.edges.forEach(this::connect);
    }

    /** Position of each edge in the SPEC. */
    public Map<StreamEdge, Integer> positions() {
        Map<StreamEdge, Integer> positions = new IdentityHashMap<>();
        for (int i = 0; i < edges.size(); i++) {
            positions.put(edges.get(i), i);
        }
        return positions;
    }

    public Map<Integer, byte[]> hashes() {
        return new StreamGraphHasherV2().traverseStreamGraphAndGenerateHashes(graph);
    }

    public boolean chainable(StreamEdge edge) {
        return StreamingJobGraphGenerator.isChainable(edge, graph);
    }

    private void add(Spec.Node node) {
        ids.add(node.id);
        StreamOperatorFactory<Integer> operator = Operators.of(node.kind, node.yielding);
        String group = node.slotSharingGroup;
        String together = node.coLocationGroup;
        switch (node.kind) {
            case "source" -> graph.addLegacySource(node.id, group, together, operator, null, INT, node.name);
            case "operator" -> graph.addOperator(node.id, group, together, operator, INT, INT, node.name);
            case "two_input" -> graph.addCoOperator(node.id, group, together, operator, INT, INT, INT, node.name);
            case "sink" -> graph.addSink(node.id, group, together, operator, INT, null, node.name);
            default -> throw new IllegalArgumentException("kind " + node.kind);
        }
        operator.setChainingStrategy(ChainingStrategy.valueOf(node.chainingStrategy));
        graph.setParallelism(node.id, node.parallelism);
        graph.setMaxParallelism(node.id, node.maxParallelism);
        graph.setBufferTimeout(node.id, node.bufferTimeout);
        graph.setTransformationUID(node.id, node.uid);
        graph.setTransformationUserHash(node.id, node.userHash);
        Flink.setManagedMemory(graph, node.id, node.managedMemoryWeight);
        if (node.minResources != null) {
            graph.setResources(
                    node.id, Operators.resources(node.minResources), Operators.resources(node.preferredResources));
        }
    }

    /** As the DataStream API does it: a partitioner or an exchange mode lives on a virtual node before the real source. */
    private void connect(Spec.Edge edge) {
        StreamPartitioner<Integer> partitioner = Operators.partitioner(edge.partitioner);
        int source = edge.source;
        if (partitioner != null || !edge.shuffleMode.equals("UNDEFINED")) {
            source = virtualId();
            Flink.addVirtualPartition(graph, edge.source, source, partitioner, edge.shuffleMode);
        }
        graph.addEdge(source, edge.target, edge.input);
        List<StreamEdge> outputs = graph.getStreamNode(edge.source).getOutEdges();
        edges.add(outputs.get(outputs.size() - 1));
    }

    private int virtualId() {
        do {
            nextVirtualId--;
        } while (ids.contains(nextVirtualId));
        return nextVirtualId;
    }
}

package penstock.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.ExecutionVertex;
import org.apache.flink.runtime.executiongraph.IntermediateResult;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;

/** Numbers for the parts of an ExecutionGraph: vertices by order of creation, subtasks counted through all of them. */
final class Subtasks {
    final List<ExecutionJobVertex> vertices = new ArrayList<>();
    private final Map<ExecutionJobVertex, Integer> positions = new IdentityHashMap<>();
    private final Map<ExecutionJobVertex, Integer> firstSubtasks = new IdentityHashMap<>();
    final int count;

    Subtasks(Iterable<ExecutionJobVertex> inCreationOrder) {
        int first = 0;
        for (ExecutionJobVertex vertex : inCreationOrder) {
            positions.put(vertex, vertices.size());
            firstSubtasks.put(vertex, first);
            vertices.add(vertex);
            first += vertex.getParallelism();
        }
        count = first;
    }

    int position(ExecutionJobVertex vertex) {
        return positions.get(vertex);
    }

    int number(ExecutionVertex subtask) {
        return firstSubtasks.get(subtask.getJobVertex()) + subtask.getParallelSubtaskIndex();
    }

    Map<ExecutionVertexID, Integer> numbers() {
        Map<ExecutionVertexID, Integer> numbers = new HashMap<>();
        for (ExecutionJobVertex vertex : vertices) {
            for (ExecutionVertex subtask : vertex.getTaskVertices()) {
                numbers.put(subtask.getID(), numbers.size());
            }
        }
        return numbers;
    }

    static int number(IntermediateResult result) {
        return Arrays.asList(result.getProducer().getProducedDataSets()).indexOf(result);
    }

    long edges() {
        long edges = 0;
        for (ExecutionJobVertex vertex : vertices) {
            for (ExecutionVertex subtask : vertex.getTaskVertices()) {
                for (int input = 0; input < vertex.getInputs().size(); input++) {
                    edges += ExecutionGraphs.inputCount(subtask, input);
                }
            }
        }
        return edges;
    }

    /** SHA-256 of (consumer, subtask, input, producer, result, partition) of all edges: {@code sha256_inputs} of a RESULT. */
    String inputs() {
        Sha sha = new Sha();
        for (ExecutionJobVertex vertex : vertices) {
            int consumer = position(vertex);
            List<IntermediateResult> inputs = vertex.getInputs();
            int[] results = inputs.stream().mapToInt(Subtasks::number).toArray();
            for (ExecutionVertex subtask : vertex.getTaskVertices()) {
                for (int input = 0; input < inputs.size(); input++) {
                    int producer = position(inputs.get(input).getProducer());
                    for (int partition : ExecutionGraphs.inputPartitions(subtask, input)) {
                        sha.ints(consumer, subtask.getParallelSubtaskIndex(), input, producer, results[input], partition);
                    }
                }
            }
        }
        return sha.hex();
    }

    /** SHA-256 over little-endian ints. */
    static final class Sha {
        private final MessageDigest digest;
        private final ByteBuffer buffer = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

        Sha() {
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError(e);
            }
        }

        Sha ints(int... values) {
            for (int value : values) {
                if (buffer.remaining() < 4) {
                    flush();
                }
                buffer.putInt(value);
            }
            return this;
        }

        Sha bytes(byte[] bytes) {
            flush();
            digest.update(bytes);
            return this;
        }

        private void flush() {
            digest.update(buffer.array(), 0, buffer.position());
            buffer.clear();
        }

        String hex() {
            flush();
            return Hex.of(digest.digest());
        }
    }
}

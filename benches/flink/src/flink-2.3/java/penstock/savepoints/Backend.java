package penstock.savepoints;

import java.util.Collection;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackendBuilder;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Flink's state backends on the heap, outside a task. */
final class Backend {
    private Backend() {}

    static <K> HeapKeyedStateBackend<K> keyed(
            TypeSerializer<K> keySerializer, int groups, KeyGroupRange range, Collection<KeyedStateHandle> handles, boolean packed)
            throws Exception {
        return new HeapKeyedStateBackendBuilder<>(
                        new KvStateRegistry().createTaskRegistry(new JobID(), new JobVertexID()),
                        keySerializer,
                        Backend.class.getClassLoader(),
                        groups,
                        range,
                        new ExecutionConfig(),
                        TtlTimeProvider.DEFAULT,
                        LatencyTrackingStateConfig.disabled(),
                        SizeTrackingStateConfig.disabled(),
                        handles,
                        packed ? SnappyStreamCompressionDecorator.INSTANCE : UncompressedStreamCompressionDecorator.INSTANCE,
                        new LocalRecoveryConfig(false, false, null),
                        new HeapPriorityQueueSetFactory(range, groups, 128),
                        false,
                        new CloseableRegistry())
                .build();
    }

    static DefaultOperatorStateBackend operator(Collection<OperatorStateHandle> handles, boolean packed) throws Exception {
        ExecutionConfig config = new ExecutionConfig();
        config.setUseSnapshotCompression(packed);
        return new DefaultOperatorStateBackendBuilder(
                        Backend.class.getClassLoader(), config, false, handles, new CloseableRegistry())
                .build();
    }
}

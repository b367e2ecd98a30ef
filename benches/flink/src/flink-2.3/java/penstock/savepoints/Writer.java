package penstock.savepoints;

import java.io.File;
import java.io.FileOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.ttl.TtlStateFactory;
import org.apache.flink.runtime.state.ttl.TtlValue;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/**
 * Writes savepoints that no job of the golden ones has: {@code FOLDER} gets one for each format, packed and not, with a
 * state for each sample, keys and namespaces of all sizes, and more than 128 key groups. {@code FOLDER N} gets one with N
 * entries from long to long in place of these.
 */
public final class Writer {
    private static final int MOST = 1 << 30;

    private Writer() {}

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        if (arguments.length > 1) {
            write(new File(folder, "large"), 128, false, numbers(Integer.parseInt(arguments[1])), SavepointFormatType.CANONICAL);
            return;
        }
        for (SavepointFormatType format : new SavepointFormatType[] {SavepointFormatType.CANONICAL, SavepointFormatType.NATIVE}) {
            for (boolean packed : new boolean[] {false, true}) {
                String name = format.name().toLowerCase() + (packed ? "_packed" : "");
                int groups = packed ? 128 : 1000;
                write(new File(folder, name), groups, packed, samples(groups, packed), format);
            }
        }
    }

    private static HeapKeyedStateBackend<Long> numbers(int count) throws Exception {
        HeapKeyedStateBackend<Long> backend =
                Backend.keyed(LongSerializer.INSTANCE, 128, KeyGroupRange.of(0, 127), Collections.emptyList(), false);
        ValueState<Long> state = value(backend, "total", LongSerializer.INSTANCE, VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE);
        for (long key = 0; key < count; key++) {
            backend.setCurrentKey(key);
            state.update(key * key);
        }
        return backend;
    }

    private static HeapKeyedStateBackend<String> samples(int groups, boolean packed) throws Exception {
        StringSerializer text = StringSerializer.INSTANCE;
        HeapKeyedStateBackend<String> backend =
                Backend.keyed(text, groups, KeyGroupRange.of(0, groups - 1), Collections.emptyList(), packed);
        for (Sample sample : Samples.all()) {
            ValueState<Object> state =
                    value(backend, sample.name, sample.serializer, VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE);
            int number = 0;
            for (Object value : sample.values) {
                if (value != null) {
                    backend.setCurrentKey("key" + number++);
                    state.update(value);
                }
            }
        }
        String[] keys = {"", "a", "€", String.join("", Collections.nCopies(200, "long"))};
        for (String key : keys) {
            backend.setCurrentKey(key);
            for (String namespace : new String[] {"", "n", String.join("", Collections.nCopies(300, "x"))}) {
                value(backend, "of texts", IntSerializer.INSTANCE, namespace, text).update(namespace.length());
                map(backend, namespace, text);
            }
            value(backend, "of windows", text, new TimeWindow(0, 10), new TimeWindow.Serializer()).update(key);
            lists(backend);
        }
        timers(backend, keys);
        return backend;
    }

    private static void map(HeapKeyedStateBackend<String> backend, String namespace, TypeSerializer<String> serializer)
            throws Exception {
        MapStateDescriptor<String, TtlValue<Long>> descriptor =
                new MapStateDescriptor<>("map of texts", serializer, new TtlStateFactory.TtlSerializer<>(
                        LongSerializer.INSTANCE, LongSerializer.INSTANCE));
        MapState<String, TtlValue<Long>> state = backend.getPartitionedState(namespace, serializer, descriptor);
        for (String key : new String[] {"", "k", "ü"}) {
            state.put(key, new TtlValue<>((long) key.length(), 5L));
        }
    }

    private static void lists(HeapKeyedStateBackend<String> backend) throws Exception {
        ListStateDescriptor<String> descriptor = new ListStateDescriptor<>("elements", StringSerializer.INSTANCE);
        ListState<String> state = backend.getPartitionedState(VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
        state.add(",");
        state.add("a,b");
    }

    private static void timers(HeapKeyedStateBackend<String> backend, String[] keys) {
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, TimeWindow>> timers =
                backend.create(
                        "_timer_state/event_window-timers",
                        new TimerSerializer<>(StringSerializer.INSTANCE, new TimeWindow.Serializer()));
        for (String key : keys) {
            for (long time : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
                timers.add(new TimerHeapInternalTimer<>(time, key, new TimeWindow(0, 10)));
            }
        }
    }

    private static <N, T> ValueState<T> value(
            HeapKeyedStateBackend<?> backend, String name, TypeSerializer<T> serializer, N namespace, TypeSerializer<N> ofNamespace)
            throws Exception {
        return backend.getPartitionedState(namespace, ofNamespace, new ValueStateDescriptor<>(name, serializer));
    }

    private static OperatorStateHandle operatorState(boolean packed, CheckpointOptions options) throws Exception {
        DefaultOperatorStateBackend backend = Backend.operator(Collections.emptyList(), packed);
        for (Sample sample : Samples.all()) {
            ListState<Object> list = backend.getListState(new ListStateDescriptor<>("list of " + sample.name, sample.serializer));
            for (Object value : sample.values) {
                if (value != null) {
                    list.add(value);
                }
            }
        }
        ListState<Long> union = backend.getUnionListState(new ListStateDescriptor<>("union", LongSerializer.INSTANCE));
        for (long i = 0; i < 300; i++) {
            union.add(i);
        }
        backend.getBroadcastState(new MapStateDescriptor<>("rules", StringSerializer.INSTANCE, LongSerializer.INSTANCE)).put("a", 1L);
        return backend.snapshot(1, 1, new MemCheckpointStreamFactory(MOST), options).get().getJobManagerOwnedSnapshot();
    }

    private static void write(File place, int groups, boolean packed, HeapKeyedStateBackend<?> backend, SavepointFormatType format)
            throws Exception {
        CheckpointOptions options =
                new CheckpointOptions(SavepointType.savepoint(format), CheckpointStorageLocationReference.getDefault());
        MemCheckpointStreamFactory streams = new MemCheckpointStreamFactory(MOST);
        java.util.concurrent.RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                format == SavepointFormatType.NATIVE
                        ? backend.snapshot(1, 1, streams, options)
                        : StreamOperatorStateHandler.prepareCanonicalSavepoint(backend, new CloseableRegistry())
                                .snapshot(1, 1, streams, options);
        future.run();
        OperatorSubtaskState.Builder state =
                OperatorSubtaskState.builder().setManagedKeyedState(future.get().getJobManagerOwnedSnapshot());
        if (!place.getName().equals("large")) {
            state.setManagedOperatorState(operatorState(packed, options));
        }
        OperatorState operator = new OperatorState("samples", "samples", new OperatorID(1, 2), 1, groups);
        operator.putState(0, state.build());
        List<OperatorState> operators = new ArrayList<>(Collections.singletonList(operator));
        place.mkdirs();
        try (FileOutputStream out = new FileOutputStream(new File(place, "_metadata"))) {
            Checkpoints.storeCheckpointMetadata(
                    new CheckpointMetadata(
                            1, operators, Collections.emptyList(), CheckpointProperties.forSavepoint(true, format)),
                    out);
        }
    }
}

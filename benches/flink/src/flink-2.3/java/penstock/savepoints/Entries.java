package penstock.savepoints;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.PartitionableListState;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.heap.StateTable;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.BackendWritableBroadcastState;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.CloseableIterator;

/**
 * Restores the state of savepoints into Flink's own backends, and prints all entries: for each path of a folder a line
 * {@code {"path", "entries"}}, or {@code {"path", "error"}}.
 */
public final class Entries {
    private final List<Object> entries = new ArrayList<>();
    private OperatorState operator;
    private int subtask;

    public static void main(String[] paths) throws Exception {
        for (String path : paths) {
            try {
                System.out.println(Json.text(Json.object("path", path, "entries", new Entries().read(new File(path)))));
            } catch (Throwable e) {
                Throwable cause = e;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                System.out.println(Json.text(Json.object("path", path, "error", cause.toString())));
            }
        }
    }

    private List<Object> read(File place) throws Exception {
        File file = place.isDirectory() ? new File(place, "_metadata") : place;
        CheckpointMetadata metadata;
        try (DataInputStream in = new DataInputStream(new FileInputStream(file))) {
            metadata = Checkpoints.loadCheckpointMetadata(in, getClass().getClassLoader(), file.getParentFile().toURI().toString());
        }
        for (OperatorState state : metadata.getOperatorStates()) {
            operator = state;
            for (Map.Entry<Integer, OperatorSubtaskState> part : new TreeMap<>(state.getSubtaskStates()).entrySet()) {
                subtask = part.getKey();
                for (KeyedStateHandle handle : part.getValue().getManagedKeyedState()) {
                    keyed((KeyGroupsStateHandle) handle);
                }
                for (OperatorStateHandle handle : part.getValue().getManagedOperatorState()) {
                    operatorState(handle);
                }
                for (OperatorStateHandle handle : part.getValue().getRawOperatorState()) {
                    raw(handle);
                }
            }
        }
        return entries;
    }

    private void add(String state, String kind, Object group, Object key, Object namespace, Object value) throws Exception {
        entries.add(
                Json.object(
                        "operator_id", operator.getOperatorID().toHexString(),
                        "state", state,
                        "kind", kind,
                        "subtask", subtask,
                        "key_group", group,
                        "key", Json.plain(key),
                        "namespace", Json.plain(namespace),
                        "value", Json.plain(value)));
    }

    private void keyed(KeyGroupsStateHandle handle) throws Exception {
        TypeSerializer<Object> keySerializer;
        try (FSDataInputStream in = handle.openInputStream()) {
            KeyedBackendSerializationProxy<Object> proxy = new KeyedBackendSerializationProxy<>(getClass().getClassLoader());
            proxy.read(new DataInputViewStreamWrapper(in));
            keySerializer = proxy.getKeySerializerSnapshot().restoreSerializer();
        }
        HeapKeyedStateBackend<Object> backend =
                Backend.keyed(
                        keySerializer,
                        operator.getMaxParallelism(),
                        handle.getKeyGroupRange(),
                        Collections.singleton(canonical(handle)),
                        false);
        Map<String, StateTable<Object, Object, Object>> tables = get(backend, HeapKeyedStateBackend.class, "registeredKVStates");
        for (Map.Entry<String, StateTable<Object, Object, Object>> table : tables.entrySet()) {
            RegisteredKeyValueStateBackendMetaInfo<Object, Object> info = table.getValue().getMetaInfo();
            String kind = info.getStateType().name().toLowerCase();
            for (StateEntry<Object, Object, Object> entry : table.getValue()) {
                add(table.getKey(), kind, group(entry.getKey()), entry.getKey(), entry.getNamespace(), entry.getState());
            }
        }
        Object manager = get(backend, HeapKeyedStateBackend.class, "priorityQueuesManager");
        Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> queues = get(manager, manager.getClass(), "registeredPQStates");
        for (Map.Entry<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> queue : queues.entrySet()) {
            try (CloseableIterator<?> timers = queue.getValue().getPriorityQueue().iterator()) {
                while (timers.hasNext()) {
                    TimerHeapInternalTimer<?, ?> timer = (TimerHeapInternalTimer<?, ?>) timers.next();
                    Object key = timer.getKey();
                    add(queue.getKey(), "timers", group(key), key, timer.getNamespace(), timer.getTimestamp());
                }
            }
        }
        backend.dispose();
    }

    private int group(Object key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(key, operator.getMaxParallelism());
    }

    /** RocksDB's savepoints of 1.11 are canonical, and their handles do not say so. Only there have key groups no place. */
    private static KeyedStateHandle canonical(KeyGroupsStateHandle handle) {
        for (org.apache.flink.api.java.tuple.Tuple2<Integer, Long> group : handle.getGroupRangeOffsets()) {
            if (group.f1 == 0) {
                KeyGroupRangeOffsets offsets = handle.getGroupRangeOffsets();
                StreamStateHandle delegate = handle.getDelegateStateHandle();
                return new KeyGroupsSavepointStateHandle(offsets, delegate);
            }
        }
        return handle;
    }

    private void operatorState(OperatorStateHandle handle) throws Exception {
        DefaultOperatorStateBackend backend = Backend.operator(Collections.singleton(handle), false);
        Map<String, PartitionableListState<?>> lists = get(backend, DefaultOperatorStateBackend.class, "registeredOperatorStates");
        for (Map.Entry<String, PartitionableListState<?>> list : lists.entrySet()) {
            boolean union = list.getValue().getStateMetaInfo().getAssignmentMode() == OperatorStateHandle.Mode.UNION;
            for (Object element : list.getValue().get()) {
                add(list.getKey(), union ? "union list" : "list", null, null, null, element);
            }
        }
        Map<String, BackendWritableBroadcastState<?, ?>> broadcasts =
                get(backend, DefaultOperatorStateBackend.class, "registeredBroadcastStates");
        for (Map.Entry<String, BackendWritableBroadcastState<?, ?>> broadcast : broadcasts.entrySet()) {
            for (Map.Entry<?, ?> entry : broadcast.getValue().entries()) {
                add(broadcast.getKey(), "broadcast", null, entry.getKey(), null, entry.getValue());
            }
        }
        backend.dispose();
    }

    /** A partition ends where the next one begins. */
    private void raw(OperatorStateHandle handle) throws Exception {
        for (Map.Entry<String, OperatorStateHandle.StateMetaInfo> state : handle.getStateNameToPartitionOffsets().entrySet()) {
            long[] offsets = state.getValue().getOffsets();
            for (int i = 0; i < offsets.length; i++) {
                long end = i + 1 < offsets.length ? offsets[i + 1] : handle.getStateSize();
                try (FSDataInputStream in = handle.openInputStream()) {
                    in.seek(offsets[i]);
                    add(state.getKey(), "raw operator", null, null, null, in.readNBytes((int) (end - offsets[i])));
                }
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T get(Object object, Class<?> type, String name) throws ReflectiveOperationException {
        java.lang.reflect.Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return (T) field.get(object);
    }
}

package org.apache.flink.streaming.api.operators;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.tasks.TestProcessingTimeService;

/** Timers as RocksDB keeps them on the heap writes them, into raw keyed state. In Flink's package, to which their manager is open. */
public final class RawTimers {
    public static final int GROUPS = 4;

    private final List<byte[]> groups = new ArrayList<>();
    private final List<Object[]> timers = new ArrayList<>();
    private Object key;

    public RawTimers() throws Exception {
        KeyGroupRange range = KeyGroupRange.of(0, GROUPS - 1);
        InternalTimeServiceManager<String> manager =
                new InternalTimeServiceManager<>(range, context(), new HeapPriorityQueueSetFactory(range, GROUPS, 8),
                        new TestProcessingTimeService(), true);
        InternalTimerService<TimeWindow> service =
                manager.getInternalTimerService(
                        "window-timers",
                        new TimerSerializer<>(StringSerializer.INSTANCE, new TimeWindow.Serializer()),
                        new Triggerable<String, TimeWindow>() {
                            @Override
                            public void onEventTime(InternalTimer<String, TimeWindow> timer) {}

                            @Override
                            public void onProcessingTime(InternalTimer<String, TimeWindow> timer) {}
                        });
        for (String name : new String[] {"", "a", "b", "c", "€"}) {
            key = name;
            for (long time : new long[] {-7, 1L << 40}) {
                TimeWindow window = new TimeWindow(time - 10, time);
                service.registerEventTimeTimer(window, time);
                service.registerProcessingTimeTimer(window, time + 1);
                int group = KeyGroupRangeAssignment.assignToKeyGroup(name, GROUPS);
                timers.add(new Object[] {"_timer_state/event_window-timers", group, name, window, time});
                timers.add(new Object[] {"_timer_state/processing_window-timers", group, name, window, time + 1});
            }
        }
        for (int group = 0; group < GROUPS; group++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            manager.snapshotStateForKeyGroup(new DataOutputViewStreamWrapper(out), group);
            groups.add(out.toByteArray());
        }
    }

    private KeyContext context() {
        return new KeyContext() {
            @Override
            public void setCurrentKey(Object newKey) {
                key = newKey;
            }

            @Override
            public Object getCurrentKey() {
                return key;
            }
        };
    }

    /** The bytes of each key group. */
    public List<byte[]> groups() {
        return groups;
    }

    /** State, key group, key, window and time of each timer. */
    public List<Object[]> timers() {
        return timers;
    }
}

package penstock.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Where the runs of this process leave their outputs; when a source may begin, and that it has emitted all. */
final class Outputs {
    private static final Map<String, List<Object>> OUTPUTS = new ConcurrentHashMap<>();
    private static final Map<String, CountDownLatch> STARTED = new ConcurrentHashMap<>();
    private static final Map<String, CountDownLatch> EMITTED = new ConcurrentHashMap<>();

    private static volatile boolean waits;

    private Outputs() {}

    /** Runs come one after the other. */
    static void begin(String run, boolean waiting) {
        waits = waiting;
        OUTPUTS.put(run, new ArrayList<>());
        STARTED.put(run, new CountDownLatch(1));
        EMITTED.put(run, new CountDownLatch(1));
    }

    /** Whether the job waits to be stopped. */
    static boolean waits() {
        return waits;
    }

    static void add(String run, Object output) {
        List<Object> outputs = OUTPUTS.get(run);
        synchronized (outputs) {
            outputs.add(output);
        }
    }

    static CountDownLatch started(String run) {
        return STARTED.get(run);
    }

    static int count(String run) {
        List<Object> outputs = OUTPUTS.get(run);
        synchronized (outputs) {
            return outputs.size();
        }
    }

    static CountDownLatch emitted(String run) {
        return EMITTED.get(run);
    }

    static List<Object> end(String run) {
        return OUTPUTS.remove(run);
    }
}

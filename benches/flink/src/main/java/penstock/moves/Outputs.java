package penstock.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Where the runs of this process leave their outputs, and how a source says that it has emitted all. */
final class Outputs {
    private static final Map<String, List<Object>> OUTPUTS = new ConcurrentHashMap<>();
    private static final Map<String, CountDownLatch> EMITTED = new ConcurrentHashMap<>();

    private Outputs() {}

    static void begin(String run) {
        OUTPUTS.put(run, new ArrayList<>());
        EMITTED.put(run, new CountDownLatch(1));
    }

    static void add(String run, Object output) {
        List<Object> outputs = OUTPUTS.get(run);
        synchronized (outputs) {
            outputs.add(output);
        }
    }

    static CountDownLatch emitted(String run) {
        return EMITTED.get(run);
    }

    static List<Object> end(String run) {
        return OUTPUTS.remove(run);
    }
}

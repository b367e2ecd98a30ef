package penstock.peer;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Wall time and CPU time of the thread that starts and stops it; adds up when started again. */
final class Clock {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private long wall;
    private long cpu;
    private long wallStart;
    private long cpuStart;

    void start() {
        cpuStart = THREADS.getCurrentThreadCpuTime();
        wallStart = System.nanoTime();
    }

    void stop() {
        wall += System.nanoTime() - wallStart;
        cpu += THREADS.getCurrentThreadCpuTime() - cpuStart;
    }

    double wallMs() {
        return wall / 1e6;
    }

    double cpuMs() {
        return cpu / 1e6;
    }
}

package penstock.moves;

import java.util.List;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.functions.source.SourceFunction;

/** Emits items, and if told so waits until it is stopped. */
final class Source implements SourceFunction<Tuple3<String, Integer, Long>> {
    private static final int PAUSE = 200;

    private final String run;
    private final List<Input.Item> items;
    private final boolean waits;
    private volatile boolean stopped;

    Source(String run, List<Input.Item> items, boolean waits) {
        this.run = run;
        this.items = items;
        this.waits = waits;
    }

    @Override
    public void run(SourceContext<Tuple3<String, Integer, Long>> context) throws Exception {
        Outputs.started(run).await();
        if (items.stream().anyMatch(Input.Item::isPause)) {
            Thread.sleep(5 * PAUSE); // tasks of 1.11 are said to run while they still open their state
        }
        for (Input.Item item : items) {
            if (item.isPause()) {
                Thread.sleep(PAUSE);
                continue;
            }
            synchronized (context.getCheckpointLock()) {
                if (item.record != null) {
                    context.collectWithTimestamp(item.record, item.record.f2);
                } else {
                    context.emitWatermark(new Watermark(item.watermark));
                }
            }
        }
        Outputs.emitted(run).countDown();
        while (waits && !stopped) {
            Thread.sleep(5);
        }
    }

    @Override
    public void cancel() {
        stopped = true;
    }
}

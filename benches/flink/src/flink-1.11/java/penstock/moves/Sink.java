package penstock.moves;

import org.apache.flink.streaming.api.functions.sink.SinkFunction;
import penstock.savepoints.Json;

/** Leaves records in {@link Outputs}. */
final class Sink<T> implements SinkFunction<T> {
    private final String run;

    Sink(String run) {
        this.run = run;
    }

    @Override
    public void invoke(T value, Context context) throws Exception {
        Outputs.add(run, Json.plain(value));
    }
}

package penstock.moves;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.functions.async.AsyncFunction;
import org.apache.flink.streaming.api.functions.async.ResultFuture;

/** Programs with asynchronous calls, some of which are under way when the savepoint is taken. */
final class Calls {
    private static final int CAPACITY = 100;

    private Calls() {}

    static List<Program> programs() {
        return Arrays.asList(
                new Program("async_ordered", 1, 128, new Input(241, 4, 300, 300), records ->
                        AsyncDataStream.orderedWait(records, new Square(), 1, TimeUnit.HOURS, CAPACITY)
                                .returns(Types.TUPLE(Types.STRING, Types.INT))
                                .uid("square")),
                new Program("async_unordered", 2, 128, new Input(251, 4, 300, 300), records ->
                        AsyncDataStream.unorderedWait(records, new Square(), 1, TimeUnit.HOURS, CAPACITY)
                                .returns(Types.TUPLE(Types.STRING, Types.INT))
                                .uid("square")));
    }

    /** Of large numbers the result never comes in a job that waits to be stopped. */
    static final class Square implements AsyncFunction<Tuple3<String, Integer, Long>, Tuple2<String, Integer>> {
        @Override
        public void asyncInvoke(Tuple3<String, Integer, Long> record, ResultFuture<Tuple2<String, Integer>> result) {
            if (record.f1 < 15 || !Outputs.waits()) {
                result.complete(Collections.singleton(Tuple2.of(record.f0, record.f1 * record.f1)));
            }
        }
    }
}

package penstock.moves;

import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.streaming.api.functions.co.RichCoFlatMapFunction;

/** Functions that are opened in the same way in all versions of Flink. */
final class Opened {
    private Opened() {}

    abstract static class Process<K, I, O> extends KeyedProcessFunction<K, I, O> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }

    abstract static class Filter<I> extends RichFilterFunction<I> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }

    abstract static class Map<I, O> extends RichMapFunction<I, O> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }

    abstract static class FlatMap<I, O> extends RichFlatMapFunction<I, O> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }

    abstract static class CoProcess<K, A, B, O> extends KeyedCoProcessFunction<K, A, B, O> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }

    abstract static class CoFlatMap<A, B, O> extends RichCoFlatMapFunction<A, B, O> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }

    abstract static class Broadcast<K, A, B, O> extends KeyedBroadcastProcessFunction<K, A, B, O> {
        abstract void open();

        @Override
        public final void open(Configuration context) {
            open();
        }
    }
}

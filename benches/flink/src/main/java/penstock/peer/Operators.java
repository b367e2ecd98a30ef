package penstock.peer;

import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.Partitioner;
import org.apache.flink.api.common.operators.ResourceSpec;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.functions.async.AsyncFunction;
import org.apache.flink.streaming.api.functions.async.ResultFuture;
import org.apache.flink.streaming.api.functions.co.CoMapFunction;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamMap;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.operators.async.AsyncWaitOperatorFactory;
import org.apache.flink.streaming.api.operators.co.CoStreamMap;
import org.apache.flink.streaming.runtime.partitioner.BroadcastPartitioner;
import org.apache.flink.streaming.runtime.partitioner.CustomPartitionerWrapper;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;
import org.apache.flink.streaming.runtime.partitioner.GlobalPartitioner;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;
import org.apache.flink.streaming.runtime.partitioner.RebalancePartitioner;
import org.apache.flink.streaming.runtime.partitioner.RescalePartitioner;
import org.apache.flink.streaming.runtime.partitioner.ShufflePartitioner;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;

/** Real operators and partitioners around the smallest possible functions. */
public final class Operators {
    private Operators() {}

    static final class Identity implements MapFunction<Integer, Integer> {
        @Override
        public Integer map(Integer value) {
            return value;
        }
    }

    static final class Either implements CoMapFunction<Integer, Integer, Integer> {
        @Override
        public Integer map1(Integer value) {
            return value;
        }

        @Override
        public Integer map2(Integer value) {
            return value;
        }
    }

    static final class Later implements AsyncFunction<Integer, Integer> {
        @Override
        public void asyncInvoke(Integer input, ResultFuture<Integer> result) {
            result.complete(Collections.singleton(input));
        }
    }

    /** Every edge has a selector of its own; no equals, so no two are equal. */
    static final class Key implements KeySelector<Integer, Integer> {
        @Override
        public Integer getKey(Integer value) {
            return value;
        }
    }

    static final class Modulo implements Partitioner<Integer> {
        @Override
        public int partition(Integer key, int partitions) {
            return key % partitions;
        }
    }

    @SuppressWarnings("unchecked")
    public static StreamOperatorFactory<Integer> of(String kind, boolean yielding) {
        if (yielding) {
            return new AsyncWaitOperatorFactory<>(new Later(), 1000, 10, AsyncDataStream.OutputMode.ORDERED);
        }
        return switch (kind) {
            case "source" -> SimpleOperatorFactory.of(Flink.source());
            case "sink" -> (StreamOperatorFactory<Integer>) (StreamOperatorFactory<?>) SimpleOperatorFactory.of(Flink.sink());
            case "two_input" -> SimpleOperatorFactory.of(new CoStreamMap<>(new Either()));
            default -> SimpleOperatorFactory.of(new StreamMap<>(new Identity()));
        };
    }

    public static StreamPartitioner<Integer> partitioner(String name) {
        if (name == null) {
            return null;
        }
        return switch (name) {
            case "FORWARD" -> new ForwardPartitioner<>();
            case "REBALANCE" -> new RebalancePartitioner<>();
            case "RESCALE" -> new RescalePartitioner<>();
            case "SHUFFLE" -> new ShufflePartitioner<>();
            case "BROADCAST" -> new BroadcastPartitioner<>();
            case "GLOBAL" -> new GlobalPartitioner<>();
            case "HASH" -> new KeyGroupStreamPartitioner<>(new Key(), 128);
            case "CUSTOM" -> new CustomPartitionerWrapper<>(new Modulo(), new Key());
            default -> throw new IllegalArgumentException("partitioner " + name);
        };
    }

    public static ResourceSpec resources(Spec.Resources resources) {
        return Flink.resources(resources);
    }
}

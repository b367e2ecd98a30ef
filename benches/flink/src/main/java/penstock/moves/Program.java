package penstock.moves;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;

/** A small program: what it makes of the records, and how many subtasks and key groups it has. */
final class Program {
    static final TypeInformation<Tuple3<String, Integer, Long>> RECORD =
            Types.TUPLE(Types.STRING, Types.INT, Types.LONG);

    final String name;
    final int parallelism;
    final int maxParallelism;
    final Input input;
    final Body body;

    Program(String name, int parallelism, int maxParallelism, Input input, Body body) {
        this.name = name;
        this.parallelism = parallelism;
        this.maxParallelism = maxParallelism;
        this.input = input;
        this.body = body;
    }

    /** From the records (key, number, time) to the stream whose records are the outputs. */
    interface Body {
        DataStream<?> build(DataStream<Tuple3<String, Integer, Long>> records);
    }
}

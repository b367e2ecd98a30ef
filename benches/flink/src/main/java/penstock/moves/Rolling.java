package penstock.moves;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;

/** Programs that reduce and aggregate a stream by key. */
final class Rolling {
    private static final Input RECORDS = new Input(23, 5, 0, 0);

    private Rolling() {}

    static List<Program> programs() {
        return Arrays.asList(
                new Program("keyed_reduce", 2, 128, RECORDS, records ->
                        States.byKey(records)
                                .reduce((a, b) -> Tuple3.of(a.f0, a.f1 * 2 % 1000 + b.f1, b.f2))
                                .uid("reduce")),
                new Program("keyed_sum", 2, 128, RECORDS, records -> States.byKey(records).sum(1).uid("sum")),
                new Program("keyed_min", 3, 128, RECORDS, records -> States.byKey(records).min(1).uid("min")),
                new Program("keyed_max", 1, 128, RECORDS, records -> States.byKey(records).max(1).uid("max")),
                new Program("keyed_min_by", 2, 128, RECORDS, records -> States.byKey(records).minBy(1).uid("min")),
                new Program("keyed_max_by", 2, 128, RECORDS, records -> States.byKey(records).maxBy(1, false).uid("max")),
                new Program("pojo_sum", 2, 128, RECORDS, records ->
                        readings(records).sum("number").uid("sum").map(Reading::record).returns(Program.RECORD)),
                new Program("pojo_max_by", 2, 7, RECORDS, records ->
                        readings(records).maxBy("number").uid("max").map(Reading::record).returns(Program.RECORD)),
                new Program("pojo_reduce", 3, 128, RECORDS, records ->
                        readings(records)
                                .reduce((a, b) -> new Reading(a.name, a.number + b.number, Math.max(a.time, b.time)))
                                .uid("reduce")
                                .map(Reading::record)
                                .returns(Program.RECORD)));
    }

    private static KeyedStream<Reading, String> readings(DataStream<Tuple3<String, Integer, Long>> records) {
        return records.map(Reading::of)
                .returns(Types.POJO(Reading.class))
                .setParallelism(1)
                .keyBy(reading -> reading.name, Types.STRING);
    }
}

package penstock.moves;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The texts of a topic, by the source of Flink's present kind. */
final class KafkaRecords {
    private KafkaRecords() {}

    static SingleOutputStreamOperator<String> of(StreamExecutionEnvironment environment, String servers, String topic) {
        KafkaSource<String> source =
                KafkaSource.<String>builder()
                        .setBootstrapServers(servers)
                        .setTopics(topic)
                        .setGroupId("sums")
                        .setStartingOffsets(OffsetsInitializer.earliest())
                        .setValueOnlyDeserializer(new SimpleStringSchema())
                        .build();
        return environment.fromSource(source, WatermarkStrategy.noWatermarks(), "records").uid("records");
    }
}

package penstock.moves;

import java.util.Properties;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.connectors.kafka.FlinkKafkaConsumer;

/** The texts of a topic, by the consumer of Flink 1.11. */
final class KafkaRecords {
    private KafkaRecords() {}

    static SingleOutputStreamOperator<String> of(StreamExecutionEnvironment environment, String servers, String topic) {
        Properties properties = new Properties();
        properties.setProperty("bootstrap.servers", servers);
        properties.setProperty("group.id", "sums");
        FlinkKafkaConsumer<String> consumer = new FlinkKafkaConsumer<>(topic, new SimpleStringSchema(), properties);
        consumer.setStartFromEarliest();
        return environment.addSource(consumer, "records").uid("records");
    }
}

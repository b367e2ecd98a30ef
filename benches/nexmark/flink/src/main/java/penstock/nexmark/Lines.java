package penstock.nexmark;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Keeps results as texts, in this JVM. */
final class Lines implements Sink<String> {
  static final Queue<String> ALL = new ConcurrentLinkedQueue<>();

  @Override
  public SinkWriter<String> createWriter(WriterInitContext context) {
    return new SinkWriter<>() {
      @Override
      public void write(String line, Context context) {
        ALL.add(line);
      }

      @Override
      public void flush(boolean endOfInput) {}

      @Override
      public void close() {}
    };
  }
}

package penstock.nexmark;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Counts weights and adds them up; each writer leaves both in this JVM when its input has ended. */
final class Sum implements Sink<Long> {
  static final AtomicLong ROWS = new AtomicLong();
  static final AtomicLong TOTAL = new AtomicLong();

  @Override
  public SinkWriter<Long> createWriter(WriterInitContext context) {
    return new Writer();
  }

  private static final class Writer implements SinkWriter<Long> {
    private long rows;
    private long total;

    @Override
    public void write(Long weight, Context context) {
      rows++;
      total += weight;
    }

    @Override
    public void flush(boolean endOfInput) {
      ROWS.addAndGet(rows);
      TOTAL.addAndGet(total);
      rows = 0;
      total = 0;
    }

    @Override
    public void close() {}
  }
}

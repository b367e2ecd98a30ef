package penstock.nexmark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.assigners.FileSplitAssigner;

/** Deals splits out by name and place, so that both readers go through the log in order of time. */
public final class InOrder implements FileSplitAssigner {
  /** For PyFlink, whose sources take a provider that Java has made. */
  public static final FileSplitAssigner.Provider PROVIDER = InOrder::new;

  private final PriorityQueue<FileSourceSplit> splits =
      new PriorityQueue<>(
          Comparator.comparing((FileSourceSplit split) -> split.path().toString()).thenComparingLong(FileSourceSplit::offset));

  InOrder(Collection<FileSourceSplit> splits) {
    this.splits.addAll(splits);
  }

  @Override
  public Optional<FileSourceSplit> getNext(String hostname) {
    return Optional.ofNullable(splits.poll());
  }

  @Override
  public void addSplits(Collection<FileSourceSplit> returned) {
    splits.addAll(returned);
  }

  @Override
  public Collection<FileSourceSplit> remainingSplits() {
    return new ArrayList<>(splits);
  }
}

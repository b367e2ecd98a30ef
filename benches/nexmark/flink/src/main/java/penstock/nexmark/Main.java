package penstock.nexmark;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Runs queries in a MiniCluster.
 *
 * <p>{@code time QUERY FORMAT FOLDER ROUNDS} prints a line of JSON per round: CPU seconds of the whole JVM, wall seconds,
 * number and checksum of the results. {@code lines FORMAT FOLDER OUT QUERY...} writes the sorted results of each query
 * into a file of the folder OUT. {@code words} counts the words of each folder that a line of standard input names.
 */
public final class Main {
  private static final int PARALLELISM = 2;
  private static final long MASK = (1L << 52) - 1;
  private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    List<String> words = List.of(arguments);
    try (MiniCluster cluster = new MiniCluster(cluster())) {
      cluster.start();
      if (words.get(0).equals("time")) {
        time(cluster, words.get(1), words.get(2), words.get(3), Integer.parseInt(words.get(4)));
      } else if (words.get(0).equals("words")) {
        words(cluster);
      } else {
        lines(cluster, words.get(1), words.get(2), Path.of(words.get(3)), words.subList(4, words.size()));
      }
    }
    System.exit(0); // whatever threads a format has left
  }

  private static MiniClusterConfiguration cluster() {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(128));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(128));
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(32));
    return new MiniClusterConfiguration.Builder()
        .setConfiguration(configuration)
        .setNumTaskManagers(1)
        .setNumSlotsPerTaskManager(PARALLELISM)
        .build();
  }

  private static StreamExecutionEnvironment environment() {
    Configuration configuration = new Configuration();
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    env.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    env.setParallelism(PARALLELISM);
    env.getConfig().enableObjectReuse();
    return env;
  }

  private static void time(MiniCluster cluster, String query, String format, String folder, int rounds) throws Exception {
    for (int round = 0; round < rounds; round++) {
      print(round, cluster, env -> Queries.of(query, Events.of(env, format, folder)));
    }
  }

  private static void words(MiniCluster cluster) throws Exception {
    BufferedReader folders = new BufferedReader(new InputStreamReader(System.in));
    int round = 0;
    for (String line = folders.readLine(); line != null; line = folders.readLine()) {
      String folder = line;
      print(round++, cluster, env -> WordCount.of(env, folder));
    }
  }

  /** Adds up the weights of results, and prints what that took. */
  private static void print(int round, MiniCluster cluster, Function<StreamExecutionEnvironment, Results<?>> program)
      throws Exception {
    Sum.ROWS.set(0);
    Sum.TOTAL.set(0);
    long cpu = SYSTEM.getProcessCpuTime();
    long wall = System.nanoTime();
    StreamExecutionEnvironment env = environment();
    program.apply(env).sum();
    cluster.executeJobBlocking(env.getStreamGraph().getJobGraph());
    cpu = SYSTEM.getProcessCpuTime() - cpu;
    wall = System.nanoTime() - wall;
    System.out.printf(
        "{\"round\": %d, \"cpu\": %.3f, \"wall\": %.3f, \"rows\": %d, \"checksum\": %d}%n",
        round, cpu / 1e9, wall / 1e9, Sum.ROWS.get(), Sum.TOTAL.get() & MASK);
  }

  private static void lines(MiniCluster cluster, String format, String folder, Path out, List<String> queries) throws Exception {
    for (String query : queries) {
      Lines.ALL.clear();
      Events events = Events.of(environment(), format, folder);
      Queries.of(query, events).lines();
      cluster.executeJobBlocking(events.env.getStreamGraph().getJobGraph());
      Files.write(out.resolve(query + ".txt"), Lines.ALL.stream().sorted().toList());
    }
  }
}

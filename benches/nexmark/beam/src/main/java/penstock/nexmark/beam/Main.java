package penstock.nexmark.beam;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.apache.beam.sdk.nexmark.NexmarkConfiguration;
import org.apache.beam.sdk.nexmark.NexmarkLauncher;
import org.apache.beam.sdk.nexmark.NexmarkOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;

/**
 * Runs a query of Beam's Nexmark suite on its Flink runner, several times in this JVM.
 *
 * <p>{@code QUERY EVENTS ROUNDS TINY} prints a line of JSON per round: CPU seconds of the whole JVM, and wall seconds, each
 * less those of a job of TINY events, which starts a cluster and ends it as well. Beam makes the events and drops the
 * results; neither is known here, so number and checksum are 0.
 */
public final class Main {
  private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
      double[] starting = timed(arguments[0], arguments[3]);
      double[] all = timed(arguments[0], arguments[1]);
      System.out.printf(
          "{\"round\": %d, \"cpu\": %.3f, \"wall\": %.3f, \"rows\": 0, \"checksum\": 0}%n",
          round, all[0] - starting[0], all[1] - starting[1]);
    }
    System.exit(0); // whatever threads a job has left
  }

  /** CPU seconds and wall seconds of a job. */
  private static double[] timed(String query, String events) throws Exception {
    long cpu = SYSTEM.getProcessCpuTime();
    long wall = System.nanoTime();
    run(
        "--runner=FlinkRunner",
        "--flinkMaster=[local]",
        "--streaming=true",
        "--parallelism=2",
        "--numEventGenerators=2",
        "--objectReuse=true",
        "--fasterCopy=true",
        "--debug=false", // without counters of events and results, which the suite adds to each query
        "--manageResources=false",
        "--monitorJobs=false",
        "--windowPeriodSec=2", // of q5, as in ours
        "--streamTimeout=3600",
        "--query=" + query,
        "--numEvents=" + events);
    return new double[] {(SYSTEM.getProcessCpuTime() - cpu) / 1e9, (System.nanoTime() - wall) / 1e9};
  }

  private static void run(String... arguments) throws Exception {
    NexmarkOptions options = PipelineOptionsFactory.fromArgs(arguments).withValidation().as(NexmarkOptions.class);
    NexmarkConfiguration configuration = NexmarkConfiguration.DEFAULT.copy();
    configuration.overrideFromOptions(options);
    configuration.sideInputRowCount = 10_000; // as in ours
    new NexmarkLauncher<>(options, configuration).run();
  }
}

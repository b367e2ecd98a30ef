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
 * <p>{@code QUERY EVENTS ROUNDS} prints a line of JSON per round: CPU seconds of the whole JVM, and wall seconds. Beam makes
 * the events and drops the results; neither is known here, so number and checksum are 0.
 */
public final class Main {
  private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    String[] options = {
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
      "--query=" + arguments[0],
      "--numEvents=" + arguments[1],
    };
    for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
      long cpu = SYSTEM.getProcessCpuTime();
      long wall = System.nanoTime();
      run(options);
      cpu = SYSTEM.getProcessCpuTime() - cpu;
      wall = System.nanoTime() - wall;
      System.out.printf(
          "{\"round\": %d, \"cpu\": %.3f, \"wall\": %.3f, \"rows\": 0, \"checksum\": 0}%n", round, cpu / 1e9, wall / 1e9);
    }
    System.exit(0); // whatever threads a job has left
  }

  private static void run(String[] arguments) throws Exception {
    NexmarkOptions options = PipelineOptionsFactory.fromArgs(arguments).withValidation().as(NexmarkOptions.class);
    NexmarkConfiguration configuration = NexmarkConfiguration.DEFAULT.copy();
    configuration.overrideFromOptions(options);
    configuration.sideInputRowCount = 10_000; // as in ours
    new NexmarkLauncher<>(options, configuration).run();
  }
}

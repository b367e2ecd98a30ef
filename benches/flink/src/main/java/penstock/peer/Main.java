package penstock.peer;

import com.fasterxml.jackson.core.JsonParser;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * {@code result < specs.jsonl > results.jsonl}, or {@code time spec.json phase...}; see README.md.
 *
 * <p>All work runs in one thread with a stack of {@code -Dstack=} megabytes, because Flink recurses as deep as a graph is.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out =
                new PrintStream(
                        new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16),
                        false,
                        StandardCharsets.UTF_8);
        System.setOut(System.err);
        Throwable[] thrown = new Throwable[1];
        Thread thread = new Thread(null, () -> thrown[0] = run(arguments, out), "peer", Long.getLong("stack", 64) << 20);
        thread.start();
        thread.join();
        out.flush();
        if (thrown[0] != null) {
            thrown[0].printStackTrace();
        }
        Runtime.getRuntime().halt(thrown[0] == null ? 0 : 1);
    }

    private static Throwable run(String[] arguments, PrintStream out) {
        try {
            switch (arguments.length == 0 ? "" : arguments[0]) {
                case "result" -> results(out);
                case "time" -> Timing.run(arguments[1], Arrays.asList(arguments).subList(2, arguments.length), out);
                default -> throw new IllegalArgumentException("usage: result < specs | time SPEC PHASE...");
            }
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    private static void results(PrintStream out) throws Exception {
        try (JsonParser parser = Spec.parser(System.in)) {
            for (Spec spec = Spec.next(parser); spec != null; spec = Spec.next(parser)) {
                out.println(Result.of(spec));
                out.flush();
            }
        }
    }
}

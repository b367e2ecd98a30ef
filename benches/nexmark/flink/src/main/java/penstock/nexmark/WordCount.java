package penstock.nexmark;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/** The words of text files with their running counts: on_penstock.py's. */
final class WordCount {
  private static final TypeInformation<Tuple2<String, Integer>> COUNTED = Types.TUPLE(Types.STRING, Types.INT);

  private WordCount() {}

  static Results<Tuple2<String, Integer>> of(StreamExecutionEnvironment env, String folder) {
    return new Results<>(
        Events.lines(env, new Path(folder))
            .flatMap(WordCount::split)
            .returns(Types.STRING)
            .map(word -> Tuple2.of(word, 1))
            .returns(COUNTED)
            .keyBy(pair -> pair.f0)
            .sum(1),
        pair -> 31L * pair.f0.length() + pair.f1,
        Tuple2::toString);
  }

  private static void split(String line, Collector<String> words) {
    for (String word : line.split(" ")) {
      words.collect(word);
    }
  }
}

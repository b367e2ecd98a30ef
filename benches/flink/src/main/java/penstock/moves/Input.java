package penstock.moves;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple3;

/**
 * What a source emits: records (key, number, time), whose time is their timestamp, and watermarks. All follows from a
 * seed, by simple arithmetic. The second half begins with the watermark that the first one ended with, as a restored
 * job knows none.
 */
final class Input {
    static final int RECORDS = 48;
    private static final int STEP = 100;
    private static final int WATERMARK_EVERY = 4;

    final List<Item> first = new ArrayList<>();
    final List<Item> second = new ArrayList<>();

    /**
     * @param disorder by how many milliseconds a record may be earlier than one before it
     * @param slack how much of that the watermarks wait; records are late where it is less than the disorder
     */
    Input(int seed, int keys, int disorder, int slack) {
        long random = seed;
        long latest = 0;
        long watermark = 0;
        for (int i = 0; i < RECORDS; i++) {
            random = (random * 1103515245L + 12345L) % 2147483648L;
            long a = random / 8;
            random = (random * 1103515245L + 12345L) % 2147483648L;
            long b = random / 16;
            long time = (i + 1) * STEP + disorder - b % (disorder + 1);
            latest = Math.max(latest, time);
            if (i == RECORDS / 2) {
                second.add(new Item(watermark));
            }
            List<Item> half = i < RECORDS / 2 ? first : second;
            half.add(new Item(Tuple3.of("k" + a % keys, (int) (a / keys % 20), time)));
            if (i % WATERMARK_EVERY == WATERMARK_EVERY - 1) {
                watermark = latest - slack - 1;
                half.add(new Item(watermark));
            }
        }
    }

    List<Item> all() {
        List<Item> items = new ArrayList<>(first);
        items.addAll(second);
        return items;
    }

    /** A record or a watermark. */
    static final class Item implements Serializable {
        final Tuple3<String, Integer, Long> record;
        final long watermark;

        Item(Tuple3<String, Integer, Long> record) {
            this.record = record;
            this.watermark = 0;
        }

        Item(long watermark) {
            this.record = null;
            this.watermark = watermark;
        }
    }
}

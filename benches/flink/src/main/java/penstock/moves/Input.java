package penstock.moves;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple3;

/**
 * What a source emits: records (key, number, time), whose time is their timestamp, watermarks, and pauses. All follows
 * from a seed, by simple arithmetic. The second half begins with the watermark that the first one ended with, as a restored
 * job knows none.
 */
final class Input {
    static final int RECORDS = 48;
    private static final int STEP = 100;
    private static final int WATERMARK_EVERY = 4;
    private static final int PAUSE_EVERY = 8;

    final List<Item> first = new ArrayList<>();
    final List<Item> second = new ArrayList<>();

    Input(int seed, int keys, int disorder, int slack) {
        this(seed, keys, disorder, slack, false);
    }

    /** Even and odd numbers in turn, eight of each, with a watermark and a pause after them. */
    static Input inTurn(int seed, int keys) {
        return new Input(seed, keys, 300, 300, true);
    }

    /**
     * @param disorder by how many milliseconds a record may be earlier than one before it
     * @param slack how much of that the watermarks wait; records are late where it is less than the disorder
     */
    private Input(int seed, int keys, int disorder, int slack, boolean inTurn) {
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
            int number = (int) (a / keys % 20);
            if (inTurn) {
                number = number / 2 * 2 + (i / PAUSE_EVERY + 1) % 2;
            }
            half.add(new Item(Tuple3.of("k" + a % keys, number, time)));
            int every = inTurn ? PAUSE_EVERY : WATERMARK_EVERY;
            if (i % every == every - 1) {
                watermark = latest - slack - 1;
                half.add(new Item(watermark));
            }
            if (inTurn && i % PAUSE_EVERY == PAUSE_EVERY - 1) {
                half.add(Item.PAUSE);
            }
        }
    }

    List<Item> all() {
        List<Item> items = new ArrayList<>(first);
        items.addAll(second);
        return items;
    }

    /** A record, a watermark, or a pause, in which all that was emitted is processed. */
    static final class Item implements Serializable {
        static final Item PAUSE = new Item(null, null);

        final Tuple3<String, Integer, Long> record;
        final Long watermark;

        private Item(Tuple3<String, Integer, Long> record, Long watermark) {
            this.record = record;
            this.watermark = watermark;
        }

        Item(Tuple3<String, Integer, Long> record) {
            this(record, null);
        }

        Item(long watermark) {
            this(null, watermark);
        }

        boolean isPause() {
            return record == null && watermark == null;
        }
    }
}

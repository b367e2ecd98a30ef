package penstock.savepoints;

import org.apache.flink.streaming.api.operators.RawTimers;

/** Prints raw keyed state with timers: a line of JSON with the bytes of key groups, and the timers. */
public final class Timers {
    private Timers() {}

    public static void main(String[] arguments) throws Exception {
        RawTimers raw = new RawTimers();
        System.out.println(Json.text(Json.object("groups", Json.plain(raw.groups()), "timers", Json.plain(raw.timers()))));
    }
}

package penstock.moves;

import org.apache.flink.api.java.tuple.Tuple3;

/** A record as a POJO. */
public class Reading {
    public String name;
    public int number;
    public long time;

    public Reading() {}

    Reading(String name, int number, long time) {
        this.name = name;
        this.number = number;
        this.time = time;
    }

    static Reading of(Tuple3<String, Integer, Long> record) {
        return new Reading(record.f0, record.f1, record.f2);
    }

    Tuple3<String, Integer, Long> record() {
        return Tuple3.of(name, number, time);
    }
}

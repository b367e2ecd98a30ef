package org.apache.flink.streaming.api.graph;

/** The classes of keys and values in the golden savepoints, under the names that these have. */
public final class Savepoints {
    private Savepoints() {}

    public enum Colour {
        RED,
        GREEN,
        BLUE
    }

    public static class Inner {
        public Colour c;
        public double d;
    }

    public static class Point {
        public Inner inner;
        public String label;
        public int x;
        public long y;

        @Override
        public boolean equals(Object other) {
            return other instanceof Point && ((Point) other).x == x;
        }

        /** The golden savepoints have their key groups by this one. */
        @Override
        public int hashCode() {
            return x;
        }
    }

    /** For Kryo: not a POJO. */
    public static class Odd {
        private final int number;

        public Odd(int number) {
            this.number = number;
        }
    }
}

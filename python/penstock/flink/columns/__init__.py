"""Types of ours for Flink's serializers, and what converts the values that these write: for tables, and for state."""

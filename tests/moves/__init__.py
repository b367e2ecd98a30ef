"""Jobs of the real Flink go on in Penstock."""

"""What the real Flink made of many graphs and programs; see README.md."""

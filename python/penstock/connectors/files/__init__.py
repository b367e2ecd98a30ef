"""File sources and sinks: watched folders, part files, buckets."""

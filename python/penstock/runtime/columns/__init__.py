"""Records as columns and back: the one codec between records of a declared type and Arrow, and the checks of values
that enter a column. Files, Spark's DataFrames and functions of batches use it. Buffers between tasks have their own."""

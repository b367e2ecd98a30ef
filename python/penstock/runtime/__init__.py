"""All that an executor runs: the operator chain, its outputs, operators, sources, sinks, windows, state and buffers.

Nothing here knows Spark, the planner or the DataStream API: a task is given frozen descriptors (:mod:`.config`) and
rows, and yields rows. The local runner and Spark run exactly this code.
"""

"""Keys as Java sees them: hashes, key groups, and the partitions of edges. State by key is in
:mod:`penstock.runtime.state`."""

"""Keys as Java sees them: hashes, key groups, and the partitions a program attaches to edges. State by key is in
:mod:`penstock.runtime.state`."""

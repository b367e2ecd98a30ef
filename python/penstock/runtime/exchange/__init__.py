"""Between tasks: channel selectors, writers and their channels on the sender's side, the gate on the receiver's. How
records become bytes is in :mod:`penstock.runtime.buffers`."""

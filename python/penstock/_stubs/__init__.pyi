"""What the native module has, by graph: stubs of ``penstock._native``, which names them. Nothing here exists at runtime."""

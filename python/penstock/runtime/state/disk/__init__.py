"""State beyond memory: tables and timers in a local file, behind the interfaces of keyed state and timer queues."""

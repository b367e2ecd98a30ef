"""What operators remember: keyed and operator state, the handles functions hold, timers. Which key is current,
operators say."""

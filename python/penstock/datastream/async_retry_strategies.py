"""Strategies of retries, where PyFlink has them; ``AsyncRetryStrategy`` makes them."""

from __future__ import annotations

from penstock.common.async_retry import (
    ExponentialBackoffDelayRetryStrategy,
    FixedDelayRetryStrategy,
    NoRetryStrategy,
    RetryPredicate,
)

__all__ = ["ExponentialBackoffDelayRetryStrategy", "FixedDelayRetryStrategy", "NoRetryStrategy", "RetryPredicate"]

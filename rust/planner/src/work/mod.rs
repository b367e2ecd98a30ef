//! How long work is called off and spread over cores. Nothing here knows what the work is.

pub mod cancel;
pub mod parallel;

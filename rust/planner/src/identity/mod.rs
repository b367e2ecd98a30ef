//! Who an operator is: the verdict on every edge, and the OperatorIDs that follow from it. What chains become is `job_graph`'s.

mod operator_id;
mod verdicts;

pub use operator_id::{Hex, OperatorId, OperatorIds, UserHash, parse_hash_table, parse_id, user_hashes};
pub use verdicts::{Verdict, Verdicts};

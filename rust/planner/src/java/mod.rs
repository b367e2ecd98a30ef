//! What Java's library computes and Flink lets show: the order of hash tables, hashes of bytes. No graphs.

pub mod hash;
pub mod murmur3;
mod tree;

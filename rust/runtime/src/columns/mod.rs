//! Records as typed columns in bytes. The records themselves, Python objects, are `penstock-objects`'.
//!
//! ```text
//! buffer   = tag 1, key u8, count u32, extras: length u32 and bytes, column of count values
//! key      = the field that is every record's key, 254 the record itself, 255 not known
//! column   = kind u8; if NULLABLE is in it, a byte per value: 1 present, 0 None; the present values:
//!   NONE     nothing: all are None
//!   INTS     ints
//!   FLOATS   8 bytes each
//!   BOOLS    1 byte each
//!   TEXTS    lengths as ints, UTF-8
//!   CODED    a number u32 of different texts, TEXTS of them, the index of each value's as ints
//!   BYTES    lengths as ints, bytes
//!   TUPLES   arity u8, a column per field
//!   DAYS     days since 1970-01-01 as ints
//!   TIMES    microseconds since then, by a clock without a zone, as ints
//!   CLOCKS   microseconds since midnight as ints
//! ints     = base i64, width u8 (0 | 1 | 2 | 4 | 8), the unsigned difference of each to the base in that many bytes
//! ```
//!
//! Everything is little-endian. Texts are CODED when at most three quarters of the first 256 are different. Each column is
//! written and read in one pass. The reference, in Python, is `penstock.runtime.buffers.columns`.

mod read;
mod texts;
mod write;

pub use read::{Broken, Ints, Reader};
pub use texts::different;
pub use write::{ints, numbers, strings, texts};

/// First byte of a buffer.
pub const TAG: u8 = 1;
/// The key is the record itself.
pub const RECORD: u8 = 254;
/// It is not known which field the key is.
pub const UNKNOWN: u8 = 255;
/// Tuples inside of tuples; deeper ones are no columns.
pub const DEPTH: usize = 8;
/// Records of a buffer at the most, so that broken bytes cannot ask for any amount of memory.
pub const MAX_COUNT: usize = 1 << 24;
/// Added to a kind where some values are None.
pub const NULLABLE: u8 = 0x80;

/// What a column consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the format above says it")]
pub enum Kind {
    None = 0,
    Ints = 1,
    Floats = 2,
    Bools = 3,
    Texts = 4,
    Coded = 5,
    Bytes = 6,
    Tuples = 7,
    Days = 8,
    Times = 9,
    Clocks = 10,
}

impl Kind {
    /// The kind with this number.
    pub fn of(number: u8) -> Option<Self> {
        use Kind::{Bools, Bytes, Clocks, Coded, Days, Floats, Ints, None, Texts, Times, Tuples};
        [None, Ints, Floats, Bools, Texts, Coded, Bytes, Tuples, Days, Times, Clocks].get(usize::from(number)).copied()
    }
}

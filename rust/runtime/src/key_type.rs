//! The declared type of a key, as far as a batch can be hashed here.

/// Tuples inside of tuples that are followed; deeper ones are left to the reference.
pub const DEPTH: usize = 8;

/// How the values of a key are hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// By what a value is: a text, a 64-bit integer, a truth value, a double, a tuple of them.
    Undeclared,
    /// As a `String`; a `Character` hashes the same.
    Text,
    /// As an `Integer`, `Short` or `Byte` of so many bits: its own value.
    Integer(u32),
    /// As a `Long`.
    Long,
    /// As a `Boolean`.
    Boolean,
    /// As a `Double`.
    Double,
    /// As a `Float`.
    Float,
    /// As a `java.sql.Date`.
    Date,
    /// As a `java.sql.Timestamp`.
    Timestamp,
    /// As a `java.sql.Time`.
    Time,
    /// As a tuple; its fields may be null.
    Tuple(Vec<KeyType>),
}

impl KeyType {
    /// The type behind its code, one letter per type in pre-order: `u` undeclared, `s` text, `1` `2` `4` integers of so many
    /// bytes, `l` long, `b` boolean, `d` double, `f` float, `D` date,
    /// `T` date with a time, `C` time, `t` and a byte with their number before the fields of a tuple.
    /// `None` where it is no such code, or too deep.
    pub fn parse(code: &[u8]) -> Option<Self> {
        let (key_type, rest) = parse(code, DEPTH)?;
        rest.is_empty().then_some(key_type)
    }
}

/// Recursive, to [`DEPTH`].
fn parse(code: &[u8], depth: usize) -> Option<(KeyType, &[u8])> {
    let (&letter, mut rest) = code.split_first()?;
    let key_type = match letter {
        b'u' => KeyType::Undeclared,
        b's' => KeyType::Text,
        b'1' | b'2' | b'4' => KeyType::Integer(u32::from(letter - b'0') * 8),
        b'l' => KeyType::Long,
        b'b' => KeyType::Boolean,
        b'd' => KeyType::Double,
        b'f' => KeyType::Float,
        b'D' => KeyType::Date,
        b'T' => KeyType::Timestamp,
        b'C' => KeyType::Time,
        b't' if depth > 0 => {
            let (&arity, mut fields) = rest.split_first()?;
            let mut types = Vec::with_capacity(arity.into());
            for _ in 0..arity {
                let (field, after) = parse(fields, depth - 1)?;
                types.push(field);
                fields = after;
            }
            rest = fields;
            KeyType::Tuple(types)
        }
        _ => return None,
    };
    Some((key_type, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_in_pre_order() {
        let pair = KeyType::Tuple(vec![KeyType::Text, KeyType::Integer(32)]);
        assert_eq!(KeyType::parse(b"t\x02s4"), Some(pair.clone()));
        assert_eq!(KeyType::parse(b"t\x02t\x02s4u"), Some(KeyType::Tuple(vec![pair, KeyType::Undeclared])));
    }

    #[test]
    fn other_codes_are_none() {
        for code in [&b""[..], b"x", b"ss", b"t", b"t\x02s", &[b't', 1].repeat(DEPTH + 1)] {
            assert_eq!(KeyType::parse(code), None);
        }
    }
}

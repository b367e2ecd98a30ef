//! Java's `hashCode` of the values that keys are made of.
//!
//! Sources of the semantics: `hashCode` of java.lang.String, Long, Boolean, Double, Float; of java.sql.Date and Timestamp; Flink's Tuple classes (1.11).
//! The golden vectors in `tests/golden/keygroups.json.gz` hold them. Cost: O(length of a text), else O(1).

/// Of a `String`: its UTF-16 units, each times a power of 31.
pub fn text(value: &str) -> i32 {
    if value.is_ascii() {
        return value.bytes().fold(0, |h, unit| fold(h, i32::from(unit)));
    }
    value.encode_utf16().fold(0, |h, unit| fold(h, i32::from(unit)))
}

/// Of a `Long`.
pub fn long(value: i64) -> i32 {
    (value ^ (value >> 32)) as i32
}

/// Of a `Boolean`.
pub fn boolean(value: bool) -> i32 {
    if value { 1231 } else { 1237 }
}

/// Of a `Double`; every NaN is the same one.
pub fn double(value: f64) -> i32 {
    long(if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() as i64 })
}

/// Of a `Float` that is this number rounded.
pub fn float(value: f64) -> i32 {
    if value.is_nan() { 0x7fc0 << 16 } else { (value as f32).to_bits() as i32 }
}

/// Of a `java.sql.Date`, so many days after 1970-01-01: the milliseconds.
pub fn date(days: i64) -> i32 {
    long(days.wrapping_mul(86_400_000))
}

/// Of a `java.sql.Timestamp`, so many microseconds after 1970 began, or of a `java.sql.Time`: the whole milliseconds.
pub fn timestamp(micros: i64) -> i32 {
    long(micros.div_euclid(1000))
}

/// One more field of a tuple, whose hash begins with 0. A field that is null counts 0.
pub fn fold(hash: i32, field: i32) -> i32 {
    hash.wrapping_mul(31).wrapping_add(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!([text(""), text("a"), text("hello"), text("größe"), text("😀")], [0, 97, 99162322, 98762257, 1772899]);
        assert_eq!([long(-1), long(1 << 32), long(i64::MIN)], [0, 1, i32::MIN]);
        assert_eq!([double(0.0), double(-0.0), double(1.5)], [0, i32::MIN, 1073217536]);
        assert_eq!(double(f64::NAN), double(f64::from_bits(0xfff8_0000_0000_0001)));
        assert_eq!([float(1.5), float(1e300), float(f64::NAN)], [1069547520, 0x7f800000, 0x7fc00000]);
    }
}

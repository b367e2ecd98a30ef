//! Columns into bytes.

use super::{Kind, texts::different};

/// Integers as differences to the smallest.
pub fn ints(out: &mut Vec<u8>, values: impl Iterator<Item = i64> + Clone) {
    let (base, top) = values.clone().fold((i64::MAX, i64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let (base, range) = if base <= top { (base, top.wrapping_sub(base) as u64) } else { (0, 0) };
    let differences = values.map(|value| value.wrapping_sub(base) as u64);
    out.extend(base.to_le_bytes());
    match range {
        0 => out.push(0),
        1..=0xff => {
            out.push(1);
            out.extend(differences.map(|difference| difference as u8));
        }
        0x100..=0xffff => fixed(out, differences.map(|difference| (difference as u16).to_le_bytes())),
        0x1_0000..=0xffff_ffff => fixed(out, differences.map(|difference| (difference as u32).to_le_bytes())),
        _ => fixed(out, differences.map(u64::to_le_bytes)),
    }
}

fn fixed<const N: usize>(out: &mut Vec<u8>, values: impl Iterator<Item = [u8; N]>) {
    out.push(N as u8);
    numbers(out, values);
}

/// Numbers of a fixed width.
pub fn numbers<const N: usize>(out: &mut Vec<u8>, mut values: impl Iterator<Item = [u8; N]>) {
    let start = out.len();
    out.resize(start + values.size_hint().0 * N, 0);
    let (places, _) = out[start..].as_chunks_mut();
    places.iter_mut().zip(&mut values).for_each(|(place, value)| *place = value);
    values.for_each(|value| out.extend(value));
}

/// The kind of a column of texts, and the texts; `packed` writes them as [`strings`] does.
pub fn texts<'a>(
    out: &mut Vec<u8>,
    (nullable, presence): (u8, &[u8]),
    items: impl ExactSizeIterator<Item = &'a [u8]>,
    packed: impl FnOnce(&mut Vec<u8>),
) {
    let coded = different(items);
    let kind = if coded.is_some() { Kind::Coded } else { Kind::Texts };
    out.push(kind as u8 | nullable);
    out.extend(presence);
    match coded {
        None => packed(out),
        Some((texts, codes)) => {
            out.extend((texts.len() as u32).to_le_bytes());
            strings(out, &texts);
            ints(out, codes.into_iter().map(i64::from));
        }
    }
}

/// Lengths, then bytes.
pub fn strings(out: &mut Vec<u8>, items: &[&[u8]]) {
    ints(out, items.iter().map(|item| item.len() as i64));
    items.iter().for_each(|item| out.extend_from_slice(item));
}

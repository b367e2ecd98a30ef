//! The string arena: every name, uid and group key of a graph, each distinct text once, in one allocation.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::index::{Index, NameId};

/// Interned strings. Equal texts have equal ids, so comparing groups compares integers.
#[derive(Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    /// Ids by text, each beside half of its hash: a table that grows never looks at a text again.
    table: HashTable<(u32, NameId)>,
    hasher: DefaultHashBuilder,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Names({} strings, {} bytes)", self.ends.len(), self.text.len())
    }
}

impl Names {
    /// The id of a text, new or known. Amortised O(length).
    pub fn intern(&mut self, name: &str) -> NameId {
        let Self { text, ends, table, hasher } = self;
        let half = hash_of(hasher, name) as u32;
        if let Some(&(_, known)) = table.find(spread(half), |&(other, id)| other == half && slice(text, ends, id) == name) {
            return known;
        }
        let id = NameId::new(ends.len());
        text.push_str(name);
        ends.push(text.len());
        table.insert_unique(spread(half), (half, id), |&(other, _)| spread(other));
        id
    }

    /// The text of an id.
    #[inline]
    pub fn get(&self, id: NameId) -> &str {
        slice(&self.text, &self.ends, id)
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], id: NameId) -> &'a str {
    let start = if id.0 == 0 { 0 } else { ends[id.get() - 1] };
    &text[start..ends[id.get()]]
}

fn hash_of(builder: &DefaultHashBuilder, name: &str) -> u64 {
    let mut hasher = builder.build_hasher();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// The table takes places from the low bits of a hash and tags from the high ones.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_an_id() {
        let mut names = Names::default();
        let ids: Vec<_> = ["a", "", "b", "a", ""].iter().map(|name| names.intern(name)).collect();
        assert_eq!(ids, [0, 1, 2, 0, 1].map(NameId));
        assert_eq!(ids.iter().map(|&id| names.get(id)).collect::<Vec<_>>(), ["a", "", "b", "a", ""]);
    }
}

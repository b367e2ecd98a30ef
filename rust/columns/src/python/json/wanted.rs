//! What a function looks at in a document.

/// Keys of an object at the most.
const MOST_KEYS: usize = 64;
/// Keys and lists of a document at the most, and how deep they may be nested.
const MOST: usize = 100;
const DEEPEST: usize = 8;

/// Parts of a document; the rest is only checked. A document that is made with these parts alone has everything of its kind at
/// its place: an object is an object, and one that has something in it is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All of it.
    All,
    /// Of an object what is at these keys, in their order. Of an array its items, where something of them is wanted.
    Parts(Box<[(Box<str>, Wanted)]>, Option<Box<Wanted>>),
}

impl Wanted {
    /// No more than that it is there, of which kind it is, and whether it is empty.
    pub fn nothing() -> Self {
        Self::Parts(Box::default(), None)
    }

    /// What is at a key.
    pub fn at(key: &str, part: Self) -> Self {
        Self::Parts([(key.into(), part)].into(), None).bounded()
    }

    /// What is wanted of each item of an array; that of an object is all.
    pub fn of_items(item: Self) -> Self {
        Self::Parts(Box::default(), Some(Box::new(item))).bounded()
    }

    /// What is at these keys; all where there are too many.
    pub fn at_all(keys: impl Iterator<Item = (Box<str>, Self)>) -> Self {
        Self::Parts(keys.collect(), None).bounded()
    }

    /// Both.
    pub fn and(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Parts(keys, items), Self::Parts(more, others)) => {
                let mut keys = keys.into_vec();
                for (key, part) in more {
                    match keys.iter_mut().find(|(known, _)| known == key) {
                        Some((_, known)) => *known = std::mem::replace(known, Self::All).and(part),
                        None => keys.push((key.clone(), part.clone())),
                    }
                }
                let items = match (items, others) {
                    (Some(one), Some(other)) => Some(Box::new(one.and(other))),
                    (one, other) => one.or_else(|| other.clone()),
                };
                Self::Parts(keys.into(), items).bounded()
            }
            _ => Self::All,
        }
    }

    /// The same, or all where that is too much.
    fn bounded(self) -> Self {
        if self.size(DEEPEST).is_some_and(|size| size <= MOST) { self } else { Self::All }
    }

    /// How many keys and lists there are; `None` where they are nested more deeply, or an object has too many.
    fn size(&self, depth: usize) -> Option<usize> {
        let Self::Parts(keys, items) = self else { return Some(0) };
        let below = depth.checked_sub(1).filter(|_| keys.len() <= MOST_KEYS)?;
        let parts = keys.iter().map(|(_, part)| part).chain(items.as_deref());
        parts.map(|part| part.size(below)).try_fold(0, |sum, size| Some(sum + 1 + size?))
    }

    /// The keys that are wanted of an object, if not all.
    pub(super) fn keys(&self) -> Option<&[(Box<str>, Self)]> {
        match self {
            Self::Parts(keys, None) => Some(keys),
            _ => None,
        }
    }

    /// What is wanted of the items of an array; `None` where not even that is.
    pub(super) fn items(&self) -> Option<&Self> {
        match self {
            Self::Parts(keys, None) if keys.is_empty() => None,
            Self::Parts(keys, Some(item)) if keys.is_empty() => Some(item),
            _ => Some(&Self::All), // a key may be looked for among the items
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_up_to_a_bound() {
        let one = Wanted::at("a", Wanted::at("b", Wanted::nothing()));
        let both = one.clone().and(&Wanted::at("a", Wanted::at("c", Wanted::All)));
        let inner = Wanted::at("b", Wanted::nothing()).and(&Wanted::at("c", Wanted::All));
        assert_eq!(both, Wanted::at("a", inner));
        assert_eq!(one.clone().and(&Wanted::at("a", Wanted::All)), Wanted::at("a", Wanted::All));
        assert_eq!(one.and(&Wanted::All), Wanted::All);
        let deep = (0..DEEPEST).fold(Wanted::nothing(), |part, _| Wanted::at("a", part));
        assert_eq!(deep, Wanted::All);
        let wide = |count: usize| Wanted::at_all((0..count).map(|key| (key.to_string().into(), Wanted::nothing())));
        assert_ne!(wide(MOST_KEYS), Wanted::All);
        assert_eq!(wide(MOST_KEYS + 1), Wanted::All);
    }
}

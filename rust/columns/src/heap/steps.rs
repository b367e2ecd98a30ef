//! What calls have done, which counts or is taken back.

use super::items::Item;
use super::{Heap, Object};

/// What a call has done.
#[derive(Debug)]
pub enum Step {
    /// An object is new.
    Made(u32),
    /// A list has an item more.
    Appended(u32),
    /// A list had this item there, or the key of a dict that came at this place.
    Replaced(u32, usize, Item),
    /// A set has an element more, or a dict a key.
    Added(u32),
}

impl Heap {
    /// What has been done counts. Objects that are new and in no place are forgotten.
    pub fn commit(&mut self) {
        while let Some(step) = self.steps.pop() {
            if let Step::Made(number) = step
                && !self.placed[number as usize]
                && !matches!(self.objects[number as usize], Object::Free)
            {
                self.drop(number);
            }
        }
        self.seen.clear();
        self.locked = 0;
    }

    /// How much has been done since the last time that it counted.
    pub fn mark(&self) -> usize {
        self.steps.len()
    }

    /// Takes back all that has been done since the last time that it counted, or what came after a [mark](Self::mark).
    pub fn rollback(&mut self, mark: usize) {
        let hasher = self.hasher.clone();
        for step in self.steps.drain(mark..).rev() {
            match step {
                Step::Made(number) if matches!(self.objects[number as usize], Object::Free) => {} // it has been dropped
                Step::Made(number) => {
                    self.objects[number as usize] = Object::Free;
                    self.free.push(number);
                }
                Step::Appended(number) => {
                    if let Object::List(items) = &mut self.objects[number as usize] {
                        items.pop();
                    }
                }
                Step::Replaced(number, at, old) => match &mut self.objects[number as usize] {
                    Object::List(items) => items[at] = old,
                    Object::Dict(pairs) => pairs.items[at].1 = old,
                    Object::Set(_) | Object::Free => {}
                },
                Step::Added(number) => match &mut self.objects[number as usize] {
                    Object::Set(elements) => elements.pop(&hasher),
                    Object::Dict(pairs) => pairs.pop(&hasher),
                    Object::List(_) | Object::Free => {}
                },
            }
        }
        self.seen.clear();
        self.locked = 0;
    }

    /// Forgets an accumulator with all that is in it. Recursive, to a fixed depth.
    pub fn drop(&mut self, number: u32) {
        let items = match std::mem::replace(&mut self.objects[number as usize], Object::Free) {
            Object::List(items) => items,
            Object::Dict(pairs) => pairs.items.into_iter().map(|(_, value)| value).collect(),
            Object::Set(_) | Object::Free => Vec::new(),
        };
        for item in items {
            if let Item::Object(inner) = item {
                self.drop(inner);
            }
        }
        self.free.push(number);
    }
}

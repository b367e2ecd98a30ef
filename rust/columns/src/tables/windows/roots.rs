//! Accumulators that are changed in place: each window has one of a heap.

use std::cell::RefCell;

use super::entries::{Entries, Window};
use crate::heap::{Heap, Tree};
use crate::value::Doubt;

/// Stands for an accumulator that another window has now.
const HANDED_ON: u32 = u32::MAX;

/// Accumulators that are changed in place, by the numbers of their windows.
#[derive(Debug, Default)]
pub(super) struct Roots {
    pub(super) heap: Heap,
    pub(super) numbers: Vec<u32>,
}

impl Entries {
    /// Where accumulators are changed in place.
    pub fn with_objects(mut self) -> Self {
        self.objects = Some(Roots::default());
        self
    }

    /// The accumulator of a window, if it is one that is changed in place.
    #[inline]
    pub fn root(&self, number: usize) -> Option<u32> {
        let roots = self.objects.as_ref()?;
        self.is_full(number).then(|| roots.numbers[number]).filter(|&root| root != HANDED_ON)
    }

    /// Lets something work with all accumulators that are changed in place.
    #[inline]
    pub fn with_heap<T>(&mut self, work: impl for<'h> FnOnce(&'h RefCell<&'h mut Heap>) -> Result<T, Doubt>) -> Result<T, Doubt> {
        let roots = self.objects.as_mut().ok_or(Doubt)?;
        work(&RefCell::new(&mut roots.heap))
    }

    /// All accumulators that are changed in place.
    pub fn heap(&mut self) -> Result<&mut Heap, Doubt> {
        self.objects.as_mut().map(|roots| &mut roots.heap).ok_or(Doubt)
    }

    /// Gives a window an accumulator that is changed in place; the one before is forgotten if it is another one.
    pub fn set_root(&mut self, number: usize, root: u32) {
        let old = self.root(number);
        if let Some(roots) = &mut self.objects {
            if let Some(old) = old.filter(|&old| old != root) {
                roots.heap.drop(old);
            }
            if roots.numbers.len() <= number {
                roots.numbers.resize(number + 1, 0);
            }
            roots.numbers[number] = root;
        }
        self.fill(number);
    }

    /// An accumulator will be that of another window than the one among these that has it.
    pub fn hand_on_root(&mut self, root: u32, parts: &[(Window, usize)]) {
        let Some(roots) = &mut self.objects else { return };
        for &(_, part) in parts {
            if let Some(own) = roots.numbers.get_mut(part).filter(|own| **own == root) {
                *own = HANDED_ON;
            }
        }
    }

    /// The accumulator of a window by itself.
    pub fn tree(&self, number: usize) -> Option<Tree> {
        let root = self.root(number)?;
        self.objects.as_ref().map(|roots| roots.heap.tree(root))
    }

    /// Forgets the accumulator of a window.
    pub fn drop_root(&mut self, number: usize) {
        let root = self.root(number);
        if let (Some(roots), Some(root)) = (&mut self.objects, root) {
            roots.heap.drop(root);
        }
    }

    /// What accumulators have become counts, or is taken back.
    #[inline]
    pub fn settle(&mut self, counts: bool) {
        match &mut self.objects {
            Some(roots) if counts => roots.heap.commit(),
            Some(roots) => roots.heap.rollback(0),
            None => {}
        }
    }
}

//! Records that change the accumulators of their windows together.

use bumpalo::Bump;

use super::Evaluated;
use crate::tables::windows::entries::Entries;
use crate::tables::windows::together::{Group, Together, by_group};
use crate::value::{Doubt, Value};

impl Together<'_> {
    /// Has the records of each group change the accumulator of its window, if it has one. Doubt: nothing has changed.
    pub(in crate::tables::windows) fn change(
        &self,
        entries: &mut Entries,
        evaluated: &Evaluated<'_>,
        groups: &[Group<'_>],
        of_rows: &[u32],
        arena: &Bump,
    ) -> Result<(), Doubt> {
        let changed = self.try_change(entries, evaluated, groups, of_rows, arena);
        entries.settle(changed.is_ok());
        changed
    }

    fn try_change(
        &self,
        entries: &mut Entries,
        evaluated: &Evaluated<'_>,
        groups: &[Group<'_>],
        of_rows: &[u32],
        arena: &Bump,
    ) -> Result<(), Doubt> {
        let (rows, ends) = by_group(groups, of_rows, 0, arena)?;
        let mut results = Vec::with_capacity(groups.len());
        for (group, &end) in groups.iter().zip(&ends) {
            if !entries.admits(group.key, Value::None) {
                return Err(Doubt);
            }
            let Some(window) = self.windows(group.pane).next() else { continue };
            let number = entries.find(group.hash, group.key, window);
            let root = match number.and_then(|number| entries.root(number)) {
                Some(root) => root,
                None => entries.with_heap(|heap| self.ready.created(heap, arena))?,
            };
            evaluated.apply(entries.heap()?, root, &rows[end - group.count..end])?;
            results.push((group, window, number, root));
        }
        if !entries.has_room(results.len()) {
            return Err(Doubt);
        }
        for (group, window, number, root) in results {
            let number = number.unwrap_or_else(|| entries.create(group.hash, group.key, window, window));
            entries.set_root(number, root);
            entries.enter(number);
        }
        Ok(())
    }
}

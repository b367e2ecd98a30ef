//! Where the keys of records are that come next. To wait for the memory of what many keys have takes no longer than to wait for
//! that of one, if it is asked for before.

use super::held::Held;
use super::store::Store;
use crate::ahead::prefetch;
use crate::value::{Doubt, Value};

/// Where a key was found, or not, after so many keys had come and gone.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    hash: u64,
    number: Option<usize>,
    moves: [u64; 2],
}

impl Store {
    /// Finds keys, up to one in doubt, and asks for the memory of what they have.
    pub fn look_ahead<'v>(&self, keys: impl Iterator<Item = Value<'v>>, places: &mut Vec<Place>) {
        places.clear();
        let states = 0..self.kinds.len();
        for key in keys {
            let Ok(hash) = self.hash(key) else { break };
            let place = Place { hash, number: self.find(hash, key), moves: self.moves };
            if let Some(number) = place.number {
                states.clone().for_each(|state| prefetch((&raw const *self.held(state, number)).cast(), size_of::<Held>()));
            }
            places.push(place);
        }
        for number in places.iter().filter_map(|place| place.number) {
            states.clone().for_each(|state| self.held(state, number).prefetch());
        }
    }

    /// The hash of a key and its number, of which something was known before.
    #[inline]
    pub fn locate(&self, key: Value<'_>, place: Option<Place>) -> Result<(u64, Option<usize>), Doubt> {
        let Some(Place { hash, number, moves: [come, gone] }) = place else {
            let hash = self.hash(key)?;
            return Ok((hash, self.find(hash, key)));
        };
        let same = if number.is_some() { gone == self.moves[1] } else { come == self.moves[0] };
        Ok((hash, if same { number } else { self.find(hash, key) }))
    }
}

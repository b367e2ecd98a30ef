//! The timers of windows whose triggers register what they like: of event time, and by the clock.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use crate::program::Domain;
use crate::tables::table::hasher;
use crate::tables::timers::{Timer, Timers};

/// Moves of timers that are always noted one by one.
const FEW_MOVES: usize = 100;

/// Timers of windows by number, each time of a window once. O(log timers) to add and to poll.
#[derive(Debug)]
struct Queue {
    heap: Timers,
    /// The window and the time of each timer, by id.
    timers: Vec<(u32, i64)>,
    free: Vec<u32>,
    index: HashTable<u32>,
    hasher: FixedState,
    /// What has been done: whether a timer was added, its window and its time.
    moves: Vec<(bool, u32, i64)>,
}

/// The timers of both kinds, and what has been done with them.
#[derive(Debug)]
pub struct Queues {
    event: Queue,
    clock: Queue,
    /// How many timers each window has.
    counts: Vec<u32>,
    /// Whether there were more moves than timers, so that all timers are handed over instead.
    pub outgrown: bool,
}

impl Queue {
    fn new() -> Self {
        let (heap, index, hasher) = (Timers::default(), HashTable::new(), hasher());
        Self { heap, timers: Vec::new(), free: Vec::new(), index, hasher, moves: Vec::new() }
    }

    fn memory(&self) -> usize {
        let timers = self.timers.capacity() * size_of::<(u32, i64)>() + self.free.capacity() * size_of::<u32>();
        let moves = self.moves.capacity() * size_of::<(bool, u32, i64)>();
        self.heap.memory() + timers + self.index.allocation_size() + moves
    }

    fn add(&mut self, window: u32, time: i64, sorts: bool) -> bool {
        let (hash, timers) = (self.hasher.hash_one((window, time)), &self.timers);
        if self.index.find(hash, |&id| timers[id as usize] == (window, time)).is_some() {
            return false;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.timers.push((window, time));
            self.timers.len() as u32 - 1
        });
        self.timers[id as usize] = (window, time);
        let (timers, hasher) = (&self.timers, &self.hasher);
        self.index.insert_unique(hash, id, |&id| hasher.hash_one(timers[id as usize]));
        if sorts {
            self.heap.add(Timer { time, id })
        } else {
            self.heap.fill(Timer { time, id })
        }
        true
    }

    /// The id of a timer, which is forgotten.
    fn forget(&mut self, window: u32, time: i64) -> Option<u32> {
        let (hash, timers) = (self.hasher.hash_one((window, time)), &self.timers);
        let (id, _) = self.index.find_entry(hash, |&id| timers[id as usize] == (window, time)).ok()?.remove();
        self.free.push(id);
        Some(id)
    }
}

impl Default for Queues {
    fn default() -> Self {
        Self { event: Queue::new(), clock: Queue::new(), counts: Vec::new(), outgrown: false }
    }
}

impl Queues {
    fn of(&self, domain: Domain) -> &Queue {
        if domain == Domain::Event { &self.event } else { &self.clock }
    }

    fn of_mut(&mut self, domain: Domain) -> &mut Queue {
        if domain == Domain::Event { &mut self.event } else { &mut self.clock }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.event.heap.is_empty() && self.clock.heap.is_empty()
    }

    /// How much memory they take, in bytes.
    pub fn memory(&self) -> usize {
        self.event.memory() + self.clock.memory() + self.counts.capacity() * size_of::<u32>()
    }

    /// How many timers a window has.
    pub fn count(&self, window: usize) -> u32 {
        self.counts.get(window).copied().unwrap_or(0)
    }

    /// The window and the time of the first timer.
    #[inline]
    pub fn first(&self, domain: Domain) -> Option<(usize, i64)> {
        let queue = self.of(domain);
        queue.heap.first().map(|timer| (queue.timers[timer.id as usize].0 as usize, timer.time))
    }

    /// Adds a timer, unless the window has it.
    #[inline]
    pub fn add(&mut self, domain: Domain, window: usize, time: i64) {
        if self.of_mut(domain).add(window as u32, time, true) {
            self.count_one(window);
            self.moved(domain, (true, window as u32, time));
        }
    }

    /// Adds a timer behind all others, as it is in the heap; whether the window did not have it.
    pub fn fill(&mut self, domain: Domain, window: usize, time: i64) -> bool {
        let added = self.of_mut(domain).add(window as u32, time, false);
        if added {
            self.count_one(window);
        }
        added
    }

    fn count_one(&mut self, window: usize) {
        if window >= self.counts.len() {
            self.counts.resize(window + 1, 0);
        }
        self.counts[window] += 1;
    }

    /// Takes a timer back, if the window has it.
    pub fn remove(&mut self, domain: Domain, window: usize, time: i64) {
        let queue = self.of_mut(domain);
        if let Some(id) = queue.forget(window as u32, time) {
            queue.heap.remove(id);
            self.counts[window] -= 1;
            self.moved(domain, (false, window as u32, time));
        }
    }

    /// Takes the first timer out.
    pub fn poll(&mut self, domain: Domain) {
        let queue = self.of_mut(domain);
        let Some(timer) = queue.heap.poll() else { return };
        let (window, time) = queue.timers[timer.id as usize];
        queue.forget(window, time);
        self.counts[window as usize] -= 1;
        self.moved(domain, (false, window, time));
    }

    fn moved(&mut self, domain: Domain, moved: (bool, u32, i64)) {
        if self.outgrown {
            return;
        }
        self.of_mut(domain).moves.push(moved);
        let (moves, timers) = (self.event.moves.len() + self.clock.moves.len(), self.event.heap.len() + self.clock.heap.len());
        if moves > 2 * timers + FEW_MOVES {
            self.settled();
            self.outgrown = true;
        }
    }

    /// Whether moves name windows.
    pub fn names_windows(&self) -> bool {
        !self.event.moves.is_empty() || !self.clock.moves.is_empty()
    }

    /// What somebody else has to do: whether a timer was added, its window and its time; all timers, as they are in the heap,
    /// where there were many moves.
    pub fn news(&self, domain: Domain) -> impl Iterator<Item = (bool, usize, i64)> {
        let (queue, outgrown) = (self.of(domain), self.outgrown);
        let all = queue.heap.all().iter().filter(move |_| outgrown);
        let all = all.map(|timer| (true, queue.timers[timer.id as usize].0 as usize, timer.time));
        queue.moves.iter().map(|&(added, window, time)| (added, window as usize, time)).chain(all)
    }

    /// All that has been done is known.
    pub fn settled(&mut self) {
        self.event.moves.clear();
        self.clock.moves.clear();
        self.outgrown = false;
    }
}

//! Timers in the order of Flink's binary heap: those of one time come in the order that its moves have left them in, so the
//! moves here are the same, one by one. Source: `HeapPriorityQueue` (Flink 1.11), as in `penstock.runtime.state.timers`.

/// One timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// When it is due.
    pub time: i64,
    /// The number that its owner has for it.
    pub id: u32,
}

/// A queue of timers by time; their ids differ. O(log timers) to add and to poll.
#[derive(Clone, Debug)]
pub struct Timers {
    /// From index 1.
    heap: Vec<Timer>,
    /// Where each timer is, by id; empty until somebody removes one.
    places: Vec<u32>,
    placed: bool,
}

impl Default for Timers {
    fn default() -> Self {
        Self { heap: vec![Timer { time: i64::MIN, id: u32::MAX }], places: Vec::new(), placed: false }
    }
}

impl Timers {
    /// How many.
    pub fn len(&self) -> usize {
        self.heap.len() - 1
    }

    /// How much memory they take, in bytes.
    pub fn memory(&self) -> usize {
        self.heap.capacity() * size_of::<Timer>() + self.places.capacity() * size_of::<u32>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<Timer> {
        self.heap.get(1).copied()
    }

    /// All, as they are in the heap.
    pub fn all(&self) -> &[Timer] {
        &self.heap[1..]
    }

    /// The ids of the last ones in the heap, from the end, as far as they have the time of the first one. Of timers of one time
    /// these come behind it: each time the last one takes the first place, and need not sink.
    pub fn soon(&self, most: usize) -> impl Iterator<Item = u32> + '_ {
        let time = self.first().map(|first| first.time);
        self.all().iter().rev().take(most).take_while(move |timer| Some(timer.time) == time).map(|timer| timer.id)
    }

    /// Adds a timer behind all others, in the heap as [`all`](Self::all) has it.
    pub fn fill(&mut self, timer: Timer) {
        self.heap.push(timer);
        self.note(self.heap.len() - 1, timer);
    }

    /// Adds a timer.
    pub fn add(&mut self, timer: Timer) {
        self.heap.push(timer);
        self.up(self.heap.len() - 1, timer);
    }

    /// Takes the first one out.
    pub fn poll(&mut self) -> Option<Timer> {
        let first = self.first()?;
        self.take_out(1);
        Some(first)
    }

    /// Takes the timer of this id out, if there is one. The first time is O(timers).
    pub fn remove(&mut self, id: u32) -> bool {
        if !self.placed {
            self.placed = true;
            for index in 1..self.heap.len() {
                self.note(index, self.heap[index]);
            }
        }
        let place = self.places.get(id as usize).map_or(0, |&place| place as usize);
        let there = place > 0 && self.heap.get(place).is_some_and(|timer| timer.id == id);
        if there {
            self.take_out(place);
        }
        there
    }

    /// The last timer fills the place, and sinks or rises from there.
    fn take_out(&mut self, index: usize) {
        let Some(last) = self.heap.pop() else { return };
        if index == self.heap.len() {
            return;
        }
        self.down(index, last);
        if self.heap[index].id == last.id {
            self.up(index, last);
        }
    }

    fn up(&mut self, mut index: usize, timer: Timer) {
        while index > 1 && timer.time < self.heap[index >> 1].time {
            self.put(index, self.heap[index >> 1]);
            index >>= 1;
        }
        self.put(index, timer);
    }

    fn down(&mut self, mut index: usize, timer: Timer) {
        let size = self.heap.len();
        loop {
            let mut child = 2 * index;
            if child >= size {
                break;
            }
            if child + 1 < size && self.heap[child + 1].time < self.heap[child].time {
                child += 1;
            }
            if self.heap[child].time >= timer.time {
                break;
            }
            self.put(index, self.heap[child]);
            index = child;
        }
        self.put(index, timer);
    }

    #[inline]
    fn put(&mut self, index: usize, timer: Timer) {
        self.heap[index] = timer;
        self.note(index, timer);
    }

    #[inline]
    fn note(&mut self, index: usize, timer: Timer) {
        if self.placed {
            let id = timer.id as usize;
            if id >= self.places.len() {
                self.places.resize(id + 1, 0);
            }
            self.places[id] = index as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is asked of a queue.
    #[derive(Clone, Debug)]
    enum Call {
        Add(i64),
        Poll,
        Remove(usize),
    }

    fn calls() -> impl Strategy<Value = Vec<Call>> {
        let call = prop_oneof![
            3 => (0i64..6).prop_map(Call::Add),
            1 => Just(Call::Poll),
            1 => (0usize..40).prop_map(Call::Remove),
        ];
        prop::collection::vec(call, 0..80)
    }

    /// The heap by exchanges of neighbours, as a textbook has it.
    #[derive(Default)]
    struct Slow(Vec<Timer>);

    impl Slow {
        fn rise(&mut self, mut at: usize) {
            while at > 0 && self.0[at].time < self.0[(at - 1) / 2].time {
                self.0.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
        }

        fn sink(&mut self, mut at: usize) -> usize {
            loop {
                let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|&child| child < self.0.len());
                let Some(least) = children.min_by_key(|&child| self.0[child].time) else { return at };
                if self.0[least].time >= self.0[at].time {
                    return at;
                }
                self.0.swap(at, least);
                at = least;
            }
        }

        fn remove(&mut self, at: usize) -> Timer {
            let removed = self.0.swap_remove(at);
            if at < self.0.len() && self.sink(at) == at {
                self.rise(at);
            }
            removed
        }
    }

    #[test]
    fn timers_of_one_time_come_from_the_end() {
        let mut timers = Timers::default();
        (0..40).for_each(|id| timers.add(Timer { time: 7, id }));
        let first = timers.poll().map(|timer| timer.id);
        let soon: Vec<_> = timers.first().map(|timer| timer.id).into_iter().chain(timers.soon(10)).collect();
        let come: Vec<_> = std::iter::from_fn(|| timers.poll()).map(|timer| timer.id).take(11).collect();
        assert_eq!((first, come), (Some(0), soon));
        timers.add(Timer { time: 6, id: 50 });
        assert_eq!(timers.soon(10).count(), 0);
    }

    proptest! {
        #[test]
        fn moves_are_those_of_a_plain_heap(calls in calls()) {
            let (mut timers, mut slow) = (Timers::default(), Slow::default());
            for (id, call) in calls.into_iter().enumerate() {
                match call {
                    Call::Add(time) => {
                        let timer = Timer { time, id: id as u32 };
                        timers.add(timer);
                        slow.0.push(timer);
                        slow.rise(slow.0.len() - 1);
                    }
                    Call::Poll => {
                        let expected = if slow.0.is_empty() { None } else { Some(slow.remove(0)) };
                        prop_assert_eq!(timers.poll(), expected);
                    }
                    Call::Remove(id) => {
                        let at = slow.0.iter().position(|timer| timer.id == id as u32);
                        prop_assert_eq!(timers.remove(id as u32), at.is_some());
                        if let Some(at) = at {
                            slow.remove(at);
                        }
                    }
                }
                prop_assert_eq!(timers.all(), &slow.0[..]);
            }
        }
    }
}

//! Timers by time, without duplicates: `penstock.runtime.state.timers.TimerQueue`, move for move. Timers of equal time fire in
//! the order of Flink's binary heap.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};

use super::member::Member;
use crate::items::long;

/// Moves that are always noted one by one.
const FEW: usize = 100;

/// One timer.
#[pyclass(frozen, module = "penstock.runtime")]
pub struct Timer {
    /// When it fires.
    #[pyo3(get)]
    time: Py<PyAny>,
    /// The canonical form of its key.
    #[pyo3(get)]
    slot: Py<PyAny>,
    /// Its key.
    #[pyo3(get)]
    key: Py<PyAny>,
    /// Its window, or None.
    #[pyo3(get)]
    namespace: Py<PyAny>,
    hash: u64,
    index: AtomicUsize,
}

#[pymethods]
impl Timer {
    /// Its place in the heap, from 1.
    #[getter]
    fn index(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = |part: &Py<PyAny>| part.bind(py).repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let parts = [&self.time, &self.slot, &self.key, &self.namespace].map(text);
        format!("Timer(time={}, slot={}, key={}, namespace={}, index={})", parts[0], parts[1], parts[2], parts[3], self.index())
    }
}

/// A timer in the heap, beside its time.
struct Node {
    time: i64,
    timer: Py<Timer>,
}

/// Timers by time.
#[pyclass(subclass, module = "penstock.runtime")]
#[derive(Default)]
pub struct TimerQueue {
    /// A binary heap; the children of place n, from 1, are at 2n and 2n + 1.
    heap: Vec<Node>,
    /// The same timers by time, canonical form and namespace.
    known: HashTable<Py<Timer>>,
    noted: Option<Py<PyList>>,
    all_new: bool,
    /// The current key of a keyed state, and its canonical form.
    current: Option<(Member, Member)>,
}

/// What names a timer.
struct Name<'a, 'py> {
    time: &'a Bound<'py, PyAny>,
    slot: &'a Bound<'py, PyAny>,
    namespace: &'a Bound<'py, PyAny>,
    hash: u64,
}

impl<'a, 'py> Name<'a, 'py> {
    fn of(time: &'a Bound<'py, PyAny>, slot: &'a Bound<'py, PyAny>, namespace: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let mixed = [time, slot, namespace].into_iter().try_fold(0_u64, |mixed, part| {
            let hash = (mixed.rotate_left(29) ^ part.hash()? as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            PyResult::Ok(hash ^ (hash >> 32))
        })?;
        Ok(Self { time, slot, namespace, hash: mixed })
    }

    fn is_of(&self, timer: &Timer) -> PyResult<bool> {
        let py = self.time.py();
        if timer.hash != self.hash {
            return Ok(false);
        }
        for (part, own) in [(self.time, &timer.time), (self.slot, &timer.slot), (self.namespace, &timer.namespace)] {
            if !part.is(own) && !part.eq(own.bind(py))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A time to sort by.
fn millis(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    long(time.as_borrowed()).map_or_else(|| time.extract(), Ok)
}

impl TimerQueue {
    /// Add a timer; returns whether it is new.
    pub fn put<'py>(
        &mut self,
        time: &Bound<'py, PyAny>,
        slot: &Bound<'py, PyAny>,
        key: &Bound<'py, PyAny>,
        namespace: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        let (py, at, name) = (time.py(), millis(time)?, Name::of(time, slot, namespace)?);
        if self.find(&name)?.is_some() {
            return Ok(false);
        }
        let clone = |part: &Bound<'py, PyAny>| part.clone().unbind();
        let timer = Timer {
            time: clone(time),
            slot: clone(slot),
            key: clone(key),
            namespace: clone(namespace),
            hash: name.hash,
            index: AtomicUsize::new(0),
        };
        let timer = Py::new(py, timer)?;
        self.known.insert_unique(name.hash, timer.clone_ref(py), |timer| timer.get().hash);
        self.heap.push(Node { time: at, timer: timer.clone_ref(py) });
        self.up(self.heap.len());
        self.note(py, true, &timer)
    }

    /// Remove a timer, if it is there.
    pub fn take<'py>(&mut self, time: &Bound<'py, PyAny>, slot: &Bound<'py, PyAny>, namespace: &Bound<'py, PyAny>) -> PyResult<()> {
        match self.find(&Name::of(time, slot, namespace)?)? {
            None => Ok(()),
            Some(timer) => self.take_out(time.py(), &timer),
        }
    }

    fn find(&self, name: &Name<'_, '_>) -> PyResult<Option<Py<Timer>>> {
        let mut failure = None;
        let same = |timer: &Py<Timer>| match name.is_of(timer.get()) {
            Ok(same) => same,
            Err(error) => {
                failure = Some(error);
                true
            }
        };
        let found = self.known.find(name.hash, same).map(|timer| timer.clone_ref(name.time.py()));
        failure.map_or(Ok(found), Err)
    }

    /// Forget a timer: the last one fills its place, and sinks or rises from there.
    fn take_out(&mut self, py: Python<'_>, timer: &Py<Timer>) -> PyResult<()> {
        let noted = self.note(py, false, timer).map(drop);
        if let Ok(entry) = self.known.find_entry(timer.get().hash, |other| other.is(timer)) {
            entry.remove();
        }
        let place = timer.get().index();
        if let Some(last) = self.heap.pop()
            && place <= self.heap.len()
        {
            let moved = last.timer.clone_ref(py);
            self.set(place, last);
            self.down(place);
            if self.heap[place - 1].timer.is(&moved) {
                self.up(place);
            }
        }
        noted
    }

    fn set(&mut self, place: usize, node: Node) {
        node.timer.get().index.store(place, Ordering::Relaxed);
        self.heap[place - 1] = node;
    }

    fn swap(&mut self, place: usize, other: usize) {
        self.heap.swap(place - 1, other - 1);
        self.heap[place - 1].timer.get().index.store(place, Ordering::Relaxed);
    }

    fn up(&mut self, mut place: usize) {
        while place > 1 && self.heap[place - 1].time < self.heap[place / 2 - 1].time {
            self.swap(place, place / 2);
            place /= 2;
        }
        self.heap[place - 1].timer.get().index.store(place, Ordering::Relaxed);
    }

    fn down(&mut self, mut place: usize) {
        let size = self.heap.len();
        while 2 * place <= size {
            let mut child = 2 * place;
            if child < size && self.heap[child].time < self.heap[child - 1].time {
                child += 1;
            }
            if self.heap[child - 1].time >= self.heap[place - 1].time {
                break;
            }
            self.swap(place, child);
            place = child;
        }
        self.heap[place - 1].timer.get().index.store(place, Ordering::Relaxed);
    }

    fn note(&mut self, py: Python<'_>, added: bool, timer: &Py<Timer>) -> PyResult<bool> {
        if let Some(noted) = self.noted.as_ref().filter(|_| !self.all_new) {
            let noted = noted.bind(py);
            noted.append((PyBool::new(py, added), timer))?;
            if self.outgrown(noted.len()) {
                self.all_new = true;
                noted.del_slice(0, noted.len())?;
            }
        }
        Ok(true)
    }
}

#[pymethods]
impl TimerQueue {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> Self {
        Self::default()
    }

    /// The moves since the last file, None where they are not noted.
    #[getter]
    fn get_noted(&self, py: Python<'_>) -> Option<Py<PyList>> {
        self.noted.as_ref().map(|noted| noted.clone_ref(py))
    }

    #[setter]
    fn set_noted(&mut self, noted: Option<Py<PyList>>) {
        self.noted = noted;
    }

    /// Whether all timers are to be written instead of moves.
    #[getter]
    fn get_all_new(&self) -> bool {
        self.all_new
    }

    #[setter]
    fn set_all_new(&mut self, all_new: bool) {
        self.all_new = all_new;
    }

    fn __len__(&self) -> usize {
        self.heap.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let timers = PyList::new(py, self.heap.iter().map(|node| node.timer.clone_ref(py)))?;
        Ok(timers.try_iter()?.into_any())
    }

    /// The timer that is next, None if there is none.
    fn first(&self, py: Python<'_>) -> Option<Py<Timer>> {
        self.heap.first().map(|node| node.timer.clone_ref(py))
    }

    /// Add a timer.
    ///
    /// Args:
    ///     time: its time.
    ///     slot: the canonical form of its key.
    ///     key: its key.
    ///     namespace: its window, or None.
    ///
    /// Returns:
    ///     Whether it is new.
    fn add<'py>(
        &mut self,
        time: &Bound<'py, PyAny>,
        slot: &Bound<'py, PyAny>,
        key: &Bound<'py, PyAny>,
        namespace: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        self.put(time, slot, key, namespace)
    }

    /// Remove a timer, if it is there.
    ///
    /// Args:
    ///     time: its time.
    ///     slot: the canonical form of its key.
    ///     namespace: its window, or None.
    fn remove<'py>(&mut self, time: &Bound<'py, PyAny>, slot: &Bound<'py, PyAny>, namespace: &Bound<'py, PyAny>) -> PyResult<()> {
        self.take(time, slot, namespace)
    }

    /// The timer that is next, removed.
    fn poll(&mut self, py: Python<'_>) -> PyResult<Py<Timer>> {
        let first = self.first(py).ok_or_else(|| PyIndexError::new_err("list index out of range"))?;
        self.take_out(py, &first)?;
        Ok(first)
    }

    /// The timer that is next, removed, if its time is not after a limit.
    ///
    /// Args:
    ///     limit: the limit, None for none.
    fn due(&mut self, py: Python<'_>, limit: Option<i64>) -> PyResult<Option<Py<Timer>>> {
        match self.heap.first() {
            Some(first) if limit.is_none_or(|limit| first.time <= limit) => self.poll(py).map(Some),
            _ => Ok(None),
        }
    }

    /// Remove the timer that is next, if its time is not after a limit, and make its key current. Timers of windows are
    /// skipped.
    ///
    /// Args:
    ///     limit: the limit, None for none.
    ///     keyed: the keyed state.
    ///
    /// Returns:
    ///     Its time; None when none is due.
    fn enter_due<'py>(&mut self, limit: Option<i64>, keyed: &Bound<'py, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = keyed.py();
        while let Some(timer) = self.due(py, limit)? {
            let (key, slot) = match &mut self.current {
                Some(members) => members,
                none => none.insert((Member::of(&keyed.get_type(), "current_key")?, Member::of(&keyed.get_type(), "slot")?)),
            };
            let timer = timer.get();
            key.set(keyed, &timer.key)?;
            slot.set(keyed, &timer.slot)?;
            if timer.namespace.is_none(py) {
                return Ok(Some(timer.time.clone_ref(py)));
            }
        }
        Ok(None)
    }

    /// Whether so many moves are more than it takes to write all timers.
    ///
    /// Args:
    ///     moves: how many.
    fn outgrown(&self, moves: usize) -> bool {
        moves > 2 * (self.heap.len() + 1) + FEW
    }

    /// Have these timers instead of all others, in the order of a heap.
    ///
    /// Args:
    ///     timers: the timers.
    fn fill(&mut self, py: Python<'_>, timers: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut filled = Self::default();
        for timer in timers.try_iter()? {
            let timer = timer?;
            let part = |name: &str| timer.getattr(name);
            let (time, slot, key, namespace) = (part("time")?, part("slot")?, part("key")?, part("namespace")?);
            let (at, name) = (millis(&time)?, Name::of(&time, &slot, &namespace)?);
            let (hash, known) = (name.hash, filled.find(&name)?);
            let index = AtomicUsize::new(filled.heap.len() + 1);
            let (time, slot, key, namespace) = (time.unbind(), slot.unbind(), key.unbind(), namespace.unbind());
            let timer = Py::new(py, Timer { time, slot, key, namespace, hash, index })?;
            if let Some(known) = known
                && let Ok(entry) = filled.known.find_entry(hash, |other| other.is(&known))
            {
                entry.remove();
            }
            filled.known.insert_unique(hash, timer.clone_ref(py), |timer| timer.get().hash);
            filled.heap.push(Node { time: at, timer });
        }
        (self.heap, self.known) = (filled.heap, filled.known);
        Ok(())
    }
}

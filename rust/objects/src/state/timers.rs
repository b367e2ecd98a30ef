//! Timers by time, without duplicates: `penstock.runtime.state.timers.TimerQueue`, move for move. Timers of equal time fire in
//! the order of Flink's binary heap.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::member::Member;
use super::timer_moves::millis;
use super::timer_names::Name;

/// Moves that are always noted one by one.
const FEW: usize = 100;

/// One timer.
#[pyclass(frozen, module = "penstock.runtime")]
pub struct Timer {
    /// When it fires.
    #[pyo3(get)]
    pub time: Py<PyAny>,
    /// The canonical form of its key.
    #[pyo3(get)]
    pub slot: Py<PyAny>,
    /// Its key.
    #[pyo3(get)]
    pub key: Py<PyAny>,
    /// Its window, or None.
    #[pyo3(get)]
    pub namespace: Py<PyAny>,
    /// Of its name.
    pub hash: u64,
    /// Its place in the heap, from 1.
    pub index: AtomicUsize,
}

#[pymethods]
impl Timer {
    /// Its place in the heap, from 1.
    #[getter]
    pub fn index(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = |part: &Py<PyAny>| part.bind(py).repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let parts = [&self.time, &self.slot, &self.key, &self.namespace].map(text);
        format!("Timer(time={}, slot={}, key={}, namespace={}, index={})", parts[0], parts[1], parts[2], parts[3], self.index())
    }
}

/// A timer in the heap, beside its time.
pub struct Node {
    /// When it fires.
    pub time: i64,
    /// The timer.
    pub timer: Py<Timer>,
}

/// Timers by time.
#[pyclass(subclass, module = "penstock.runtime")]
#[derive(Default)]
pub struct TimerQueue {
    /// A binary heap; the children of place n, from 1, are at 2n and 2n + 1.
    pub heap: Vec<Node>,
    /// The same timers by time, canonical form and namespace.
    pub known: HashTable<Py<Timer>>,
    /// The moves since the last file, None where they are not noted.
    pub noted: Option<Py<PyList>>,
    /// Whether all timers are to be written instead of moves.
    pub all_new: bool,
    /// The current key of a keyed state, and its canonical form.
    current: Option<(Member, Member)>,
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
        Ok(self.put(time, slot, key, namespace)?.is_some())
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

    /// The timer of a name.
    ///
    /// Args:
    ///     time: its time.
    ///     slot: the canonical form of its key.
    ///     namespace: its window, or None.
    ///
    /// Returns:
    ///     The timer, None if there is none.
    fn find<'py>(&self, time: &Bound<'py, PyAny>, slot: &Bound<'py, PyAny>, namespace: &Bound<'py, PyAny>) -> PyResult<Option<Py<Timer>>> {
        self.named(&Name::of(time, slot, namespace)?)
    }

    /// Add a timer of the same key, which is new and not earlier, and remove a timer.
    ///
    /// Args:
    ///     timer: the timer that is removed.
    ///     time: the time of the new one.
    ///     namespace: its window.
    ///
    /// Returns:
    ///     The new one.
    fn postpone<'py>(&mut self, timer: &Bound<'py, Timer>, time: &Bound<'py, PyAny>, namespace: &Bound<'py, PyAny>) -> PyResult<Py<Timer>> {
        let (py, old, at) = (timer.py(), timer.get(), millis(time)?);
        if self.heap.get(self.heap.len().div_ceil(2) - 1).is_none_or(|above| at < above.time) {
            let new = self.put(time, old.slot.bind(py), old.key.bind(py), namespace)?;
            self.take_out(py, timer.as_unbound())?;
            return new.ok_or_else(|| PyValueError::new_err("the timer is not new"));
        }
        let hash = Name::of(time, old.slot.bind(py), namespace)?.hash;
        let (time, namespace) = (time.clone().unbind(), namespace.clone().unbind());
        let (slot, key, index) = (old.slot.clone_ref(py), old.key.clone_ref(py), AtomicUsize::new(old.index()));
        let new = Py::new(py, Timer { time, slot, key, namespace, hash, index })?;
        self.replace(py, timer.as_unbound(), Node { time: at, timer: new.clone_ref(py) })?;
        Ok(new)
    }

    /// Remove all timers up to a time.
    ///
    /// Args:
    ///     limit: the time.
    ///
    /// Returns:
    ///     Their time, canonical form, key and namespace, in the order of :meth:`poll`.
    fn poll_until<'py>(&mut self, py: Python<'py>, limit: i64) -> PyResult<Bound<'py, PyList>> {
        let mut due = Vec::new();
        while let Some(time) = self.heap.first().map(|first| first.time).filter(|time| *time <= limit) {
            self.poll_equal(py, time, &mut due)?;
        }
        let parts = |timer: &Py<Timer>| {
            let timer = timer.get();
            [&timer.time, &timer.slot, &timer.key, &timer.namespace].map(|part| part.clone_ref(py))
        };
        PyList::new(py, due.iter().map(|timer| PyTuple::new(py, parts(timer))).collect::<PyResult<Vec<_>>>()?)
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
    pub fn outgrown(&self, moves: usize) -> bool {
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
            let (hash, known) = (name.hash, filled.named(&name)?);
            let index = AtomicUsize::new(filled.heap.len() + 1);
            let (time, slot, key, namespace) = (time.unbind(), slot.unbind(), key.unbind(), namespace.unbind());
            let timer = Py::new(py, Timer { time, slot, key, namespace, hash, index })?;
            if let Some(known) = known {
                filled.forget(&known);
            }
            filled.known.insert_unique(hash, timer.clone_ref(py), |timer| timer.get().hash);
            filled.heap.push(Node { time: at, timer });
        }
        (self.heap, self.known) = (filled.heap, filled.known);
        Ok(())
    }
}

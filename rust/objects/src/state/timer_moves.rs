//! How timers move in the heap of a queue: as in `penstock.runtime.state.timers.TimerQueue`, one by one.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::timer_names::Name;
use super::timers::{Node, Timer, TimerQueue};
use crate::items::long;

/// A time to sort by.
pub fn millis(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    long(time.as_borrowed()).map_or_else(|| time.extract(), Ok)
}

impl TimerQueue {
    /// Add a timer; None if it is there already.
    pub fn put<'py>(
        &mut self,
        time: &Bound<'py, PyAny>,
        slot: &Bound<'py, PyAny>,
        key: &Bound<'py, PyAny>,
        namespace: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Py<Timer>>> {
        let (py, at, name) = (time.py(), millis(time)?, Name::of(time, slot, namespace)?);
        if self.named(&name)?.is_some() {
            return Ok(None);
        }
        let clone = |part: &Bound<'py, PyAny>| part.clone().unbind();
        let index = AtomicUsize::new(0);
        let timer = Timer { time: clone(time), slot: clone(slot), key: clone(key), namespace: clone(namespace), hash: name.hash, index };
        let timer = Py::new(py, timer)?;
        self.known.insert_unique(name.hash, timer.clone_ref(py), |timer| timer.get().hash);
        self.heap.push(Node { time: at, timer: timer.clone_ref(py) });
        self.up(self.heap.len());
        self.note(py, true, &timer)?;
        Ok(Some(timer))
    }

    /// Remove a timer, if it is there.
    pub fn take<'py>(&mut self, time: &Bound<'py, PyAny>, slot: &Bound<'py, PyAny>, namespace: &Bound<'py, PyAny>) -> PyResult<()> {
        match self.named(&Name::of(time, slot, namespace)?)? {
            None => Ok(()),
            Some(timer) => self.take_out(time.py(), &timer),
        }
    }

    /// The timer of a name.
    pub fn named(&self, name: &Name<'_, '_>) -> PyResult<Option<Py<Timer>>> {
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
    pub fn take_out(&mut self, py: Python<'_>, timer: &Py<Timer>) -> PyResult<()> {
        let noted = self.note(py, false, timer);
        self.forget(timer);
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

    /// Put a timer into the place of one that is not later, as if it had come last, and the other had been removed then.
    pub fn replace(&mut self, py: Python<'_>, timer: &Py<Timer>, node: Node) -> PyResult<()> {
        let (place, new) = (timer.get().index(), node.timer.clone_ref(py));
        self.heap.push(node);
        let noted = self.note(py, true, &new).and_then(|()| self.note(py, false, timer));
        self.forget(timer);
        self.known.insert_unique(new.get().hash, new, |timer| timer.get().hash);
        if let Some(node) = self.heap.pop() {
            self.set(place, node);
            self.down(place);
        }
        noted
    }

    /// Forget the name of a timer.
    pub fn forget(&mut self, timer: &Py<Timer>) {
        if let Ok(entry) = self.known.find_entry(timer.get().hash, |other| other.is(timer)) {
            entry.remove();
        }
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

    /// Note a move, if moves are noted.
    pub fn note(&mut self, py: Python<'_>, added: bool, timer: &Py<Timer>) -> PyResult<()> {
        if let Some(noted) = self.noted.as_ref().filter(|_| !self.all_new) {
            let noted = noted.bind(py);
            noted.append((PyBool::new(py, added), timer))?;
            if self.outgrown(noted.len()) {
                self.all_new = true;
                noted.del_slice(0, noted.len())?;
            }
        }
        Ok(())
    }
}

/// Timers of one time on their way out of the heap, whose upper part they are.
struct Leaving {
    time: i64,
    /// Places from the top down that are not filled yet.
    way: Vec<usize>,
    /// The timers that would have risen, in the order in which they are polled.
    rising: Vec<Py<Timer>>,
}

impl TimerQueue {
    /// Poll timers of the earliest time, as `TimerQueue._poll_equal` in Python does: a later timer that is put at the top would
    /// sink through all of them, and sinks from the place that becomes free instead.
    pub fn poll_equal(&mut self, py: Python<'_>, time: i64, due: &mut Vec<Py<Timer>>) -> PyResult<()> {
        let mut leaving = Leaving { time, way: vec![1], rising: vec![self.heap[0].timer.clone_ref(py)] };
        let mut polled = 0;
        while !leaving.way.is_empty() {
            let timer = leaving.rising[polled].clone_ref(py);
            polled += 1;
            self.note(py, false, &timer)?;
            self.forget(&timer);
            let Some(last) = self.heap.pop() else { break };
            let is_last = last.timer.is(&timer);
            due.push(timer);
            if last.time == time {
                if !is_last {
                    self.rise(py, &leaving, last.timer, polled);
                }
                break;
            }
            let free = self.free(py, &mut leaving);
            self.set(free, last);
            self.down(free);
        }
        Ok(())
    }

    /// The lowest place of that time below the last one, which becomes free.
    fn free(&self, py: Python<'_>, leaving: &mut Leaving) -> usize {
        let (size, is_equal) = (self.heap.len(), |place: usize| self.heap[place - 1].time == leaving.time);
        let mut free = leaving.way.pop().unwrap_or(1);
        loop {
            let child = 2 * free;
            let next = if child <= size && is_equal(child) {
                child
            } else if child < size && is_equal(child + 1) {
                child + 1
            } else {
                return free;
            };
            leaving.way.push(free);
            leaving.rising.push(self.heap[next - 1].timer.clone_ref(py));
            free = next;
        }
    }

    /// Fill the places on the way with timers of that time: the last one of the heap, and those that have not been polled.
    fn rise(&mut self, py: Python<'_>, leaving: &Leaving, last: Py<Timer>, polled: usize) {
        let rest = leaving.rising[polled..].iter().map(|timer| timer.clone_ref(py));
        for (&place, timer) in leaving.way.iter().zip(std::iter::once(last).chain(rest)) {
            self.set(place, Node { time: leaving.time, timer });
        }
    }
}

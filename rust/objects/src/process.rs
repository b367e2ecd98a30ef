//! Functions of a keyed stream with state and timers, as Python sees them.

use penstock_columns::{Batch as Columns, Bounds, Domain, Kind, Life, Process, ProcessInput, ProcessSpec, Processed, StateNews, StateSpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::batches::Batch;
use super::hand_over::objects;
use super::pipelines::Program;

/// Results; those for side outputs by tag; in which order they came; how many records or timers are done; doubt.
type Results = (Option<Batch>, Vec<(u32, Batch)>, Vec<(Option<u32>, usize)>, usize, bool);

/// How many milliseconds values live, whether reading makes them live on, whether those that are over can be seen, and how many
/// each access looks at.
type Lifetime = (i64, bool, bool, i64);

type News = (Vec<(Vec<Batch>, Vec<Batch>, Vec<Batch>, Vec<bool>)>, Vec<(bool, Vec<Batch>)>);

/// The state and the timers of a compiled process function, as ``penstock.runtime.operators.process`` has them, on columns.
///
/// Args:
///     inputs: of each input, what gives the key of a record, and what takes a record.
///     on_timer: takes the time of a timer; None where nothing is done then.
///     states: of each state, ``value``, ``list``, ``map``, ``buffer`` or ``frozen``: a buffer of records that nobody can change.
///     lives: of each state, None or how its values expire: after how many milliseconds, whether reading makes them live on,
///         whether those that are over can be seen, and how many each access looks at.
///     defaults: of each state, None or a batch of one value, which is there where there is none.
///     bounds: where two inputs are joined, how far a right record's time may be from a left one's, the least and the most. Then
///         a function takes both records, and there are two buffers.
///     partly: whether it has some of the keys of a larger state in Python.
///
/// Raises:
///     ValueError: these do not go together.
#[pyclass(module = "penstock._native")]
pub struct KeyedProcess {
    process: Process,
    inputs: usize,
}

#[pymethods]
impl KeyedProcess {
    #[new]
    #[pyo3(signature = (inputs, on_timer, states, lives, defaults, bounds=None, partly=false))]
    fn new(
        inputs: Vec<(PyRef<'_, Program>, PyRef<'_, Program>)>,
        on_timer: Option<&Program>,
        states: Vec<String>,
        lives: Vec<Option<Lifetime>>,
        defaults: Vec<Option<PyRef<'_, Batch>>>,
        bounds: Option<(i64, i64)>,
        partly: bool,
    ) -> PyResult<Self> {
        let refused = || PyValueError::new_err("such functions are not known here");
        if lives.len() != states.len() || defaults.len() != states.len() {
            return Err(refused());
        }
        let state = |((name, life), default): ((&String, &Option<Lifetime>), &Option<PyRef<'_, Batch>>)| {
            let life = life.map(|(millis, renews, shows, size)| Life { millis, renews, shows, size });
            Some(StateSpec { kind: kind(name)?, life, default: default.as_ref().map(|batch| batch.columns.clone()) })
        };
        let states = states.iter().zip(&lives).zip(&defaults).map(state).collect::<Option<_>>().ok_or_else(refused)?;
        let input = |(key, function): &(PyRef<'_, Program>, PyRef<'_, Program>)| ProcessInput {
            key: key.functions.clone(),
            function: function.functions.clone(),
        };
        let inputs: Vec<_> = inputs.iter().map(input).collect();
        let (count, on_timer) = (inputs.len(), on_timer.map(|program| program.functions.clone()));
        let bounds = bounds.map(|(lower, upper)| Bounds { lower, upper });
        let spec = ProcessSpec { inputs, on_timer, states, bounds };
        let process = if partly { Process::in_part(spec) } else { Process::new(spec) }.ok_or_else(refused)?;
        Ok(Self { process, inputs: count })
    }

    /// How many values, lists, maps and buffers there are in all states.
    fn __len__(&self) -> usize {
        self.process.len()
    }

    /// How many values there are, items of lists, entries of maps, and records of buffers.
    fn weight(&self) -> usize {
        self.process.weight()
    }

    /// How much memory state and timers take, in bytes. O(state).
    fn memory(&self) -> usize {
        self.process.memory()
    }

    /// The time of the first timer, of event time or by the clock; None where there is none.
    fn next_due(&self, event_time: bool) -> Option<i64> {
        self.process.next_due(domain(event_time))
    }

    /// Call the function for some records of an input.
    ///
    /// Args:
    ///     input: 0, or 1 for the second one.
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///     watermark: of the operator.
    ///     now: the time of the clock.
    ///
    /// Returns:
    ///     The results, or None; those for side outputs, each with the number of its tag; where there are some, in which order
    ///     all came, as tag or None, and how many. The place behind the last record that is done; whether the record there is doubtful, so that
    ///     Python decides. If it is not, and there is one, the next call begins with it.
    ///
    /// Raises:
    ///     ValueError: there are not so many records, or no such input.
    fn run(&mut self, input: usize, batch: &Batch, start: usize, end: usize, watermark: i64, now: i64) -> PyResult<Results> {
        if input >= self.inputs || start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records, or there is no such input"));
        }
        Ok(results(self.process.run(input, &batch.columns, start, end, (watermark, now))))
    }

    /// Fire timers up to a time, in order.
    ///
    /// Args:
    ///     event_time: whether those of event time, or those by the clock.
    ///     limit: the time.
    ///     watermark: of the operator.
    ///     now: the time of the clock.
    ///
    /// Returns:
    ///     As ``run``; instead of the place how many timers have fired.
    fn advance(&mut self, event_time: bool, limit: i64, watermark: i64, now: i64) -> Results {
        results(self.process.advance(domain(event_time), limit, (watermark, now)))
    }

    /// What the state in Python does not know; it counts as known from then on. O(changes).
    ///
    /// Returns:
    ///     Of each state, batches of keys with nothing in it any more, or with a new map (each in a tuple); of maps what they
    ///     have not any more (key, key in the map); and of what is in it (key, value; of maps key, key in the map, value; of
    ///     a buffer, for each record, key, number of buckets, time and record). Each is to be applied before the next one. Where
    ///     it has some of the keys, and but for maps, whether there is a value in Python in place of each.
    ///     Of the timers of event time, and of those by the clock: whether all follow, as they are in the heap, or what has
    ///     been done with them; and these (whether added, time, key, and two numbers).
    ///
    /// Raises:
    ///     ValueError: something of it cannot be in a batch.
    fn news(&mut self) -> PyResult<News> {
        let news = self.process.news().map_err(|_| PyValueError::new_err("this state cannot be in a batch"))?;
        let batches = |all: Vec<Columns>| all.into_iter().map(|columns| Batch { columns }).collect::<Vec<_>>();
        let of = |state: StateNews| (batches(state.removed), batches(state.dropped), batches(state.values), state.known);
        let states = news.states.into_iter().map(of).collect();
        Ok((states, news.timers.into_iter().map(|timers| (timers.all, batches(timers.timers))).collect()))
    }

    /// How far the look at values that expire has come.
    ///
    /// Returns:
    ///     Of each state how many may be looked at now, and batches of the keys that this round still looks at, each in a tuple.
    ///
    /// Raises:
    ///     ValueError: one of them cannot be in a batch.
    fn places(&self) -> PyResult<Vec<(i64, Vec<Batch>)>> {
        let places = self.process.places().map_err(|_| PyValueError::new_err("these keys cannot be in a batch"))?;
        let batches = |all: Vec<Columns>| all.into_iter().map(|columns| Batch { columns }).collect();
        Ok(places.into_iter().map(|(credit, keys)| (credit, batches(keys))).collect())
    }

    /// Take the state of Python in place of this one.
    ///
    /// Args:
    ///     states: what is in each state, as ``news`` gives it.
    ///     timers: all timers of event time as they are in the heap (time, key, and the times of a window that has this
    ///         time alone).
    ///     by_clock: those by the clock.
    ///     places: as ``places`` gives them.
    ///
    /// Returns:
    ///     Whether all of it can be here; if not, nothing is.
    fn load(
        &mut self,
        states: Vec<Vec<PyRef<'_, Batch>>>,
        timers: Vec<PyRef<'_, Batch>>,
        by_clock: Vec<PyRef<'_, Batch>>,
        places: Vec<(i64, Vec<PyRef<'_, Batch>>)>,
    ) -> bool {
        let columns = |all: &Vec<PyRef<'_, Batch>>| all.iter().map(|batch| batch.columns.clone()).collect::<Vec<_>>();
        let places: Vec<_> = places.iter().map(|(credit, keys)| (*credit, columns(keys))).collect();
        let states: Vec<_> = states.iter().map(columns).collect();
        self.process.load(&states, [&columns(&timers), &columns(&by_clock)], &places).is_ok()
    }

    /// Begin a turn with some records, where it has some of the keys.
    ///
    /// Args:
    ///     input: 0, or 1 for the second one.
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     Keys of these records that are not here, each once; and the place behind the last record whose key, and those before
    ///     it, is not in doubt. With what Python has of these keys brought, the records up to there can be taken.
    ///
    /// Raises:
    ///     ValueError: there are not so many records, or no such input.
    fn begin<'py>(
        &mut self,
        py: Python<'py>,
        input: usize,
        batch: &Batch,
        start: usize,
        end: usize,
    ) -> PyResult<(Bound<'py, PyList>, usize)> {
        if input >= self.inputs || start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records, or there is no such input"));
        }
        let (keys, end) = self.process.begin(input, &batch.columns, start, end);
        Ok((objects(py, &keys)?.into_list(py)?, end))
    }

    /// Begin a turn with the timers that are due next, where it has some of the keys.
    ///
    /// Args:
    ///     event_time: whether those of event time, or those by the clock.
    ///     limit: the time up to which they are due.
    ///     most: about how many at the most.
    ///
    /// Returns:
    ///     Keys of these timers that are not here. With what Python has of them brought, ``advance`` fires the timers up to one
    ///     whose key is another.
    ///
    /// Raises:
    ///     ValueError: the keys take more than 2 GiB.
    fn due<'py>(&mut self, py: Python<'py>, event_time: bool, limit: i64, most: usize) -> PyResult<Bound<'py, PyList>> {
        let keys = self.process.due(domain(event_time), limit, most);
        let keys = keys.ok_or_else(|| PyValueError::new_err("no column can hold so many keys"))?;
        objects(py, &keys)?.into_list(py)
    }

    /// Take what Python has of the keys that were asked for.
    ///
    /// Args:
    ///     states: what is in each state, as ``news`` gives it.
    ///
    /// Returns:
    ///     Whether all of it can be here; if not, nothing of it is.
    fn bring(&mut self, states: Vec<Vec<PyRef<'_, Batch>>>) -> bool {
        let columns = |all: &Vec<PyRef<'_, Batch>>| all.iter().map(|batch| batch.columns.clone()).collect::<Vec<_>>();
        self.process.bring(&states.iter().map(columns).collect::<Vec<_>>()).is_ok()
    }

    /// Whether it is time to forget keys, where what they have may take so much memory, in bytes.
    fn is_over(&mut self, bytes: usize) -> bool {
        self.process.is_over(bytes)
    }

    /// Forget the keys that were used longest ago, until half of so much memory is taken. Python knows everything. O(keys log keys).
    fn forget_idle(&mut self, bytes: usize) {
        self.process.forget_idle(bytes);
    }

    /// How many values, lists and maps more there are than Python knows.
    fn fresh(&self) -> isize {
        self.process.fresh()
    }

    /// How much memory a key took when ``is_over`` last looked at all of them, in bytes; 0 before.
    fn mean(&self) -> usize {
        self.process.mean()
    }

    /// How many keys have state here.
    fn keys(&self) -> usize {
        self.process.keys()
    }

    /// How many timers there are, of event time and by the clock.
    fn waiting(&mut self) -> (usize, usize) {
        let [event, clock] = self.process.waiting();
        (event, clock)
    }

    /// Forget everything.
    fn clear(&mut self) {
        self.process.clear();
    }
}

fn kind(name: &str) -> Option<Kind> {
    match name {
        "value" => Some(Kind::Value),
        "list" => Some(Kind::List),
        "buffer" => Some(Kind::Buffer),
        "frozen" => Some(Kind::Frozen),
        "map" => Some(Kind::Map),
        _ => None,
    }
}

pub(crate) fn domain(event_time: bool) -> Domain {
    if event_time { Domain::Event } else { Domain::Clock }
}

fn results(done: Processed) -> Results {
    let sides = done.sides.into_iter().map(|(tag, columns)| (tag, Batch { columns })).collect();
    (done.out.map(|columns| Batch { columns }), sides, done.order, done.end, done.doubtful)
}

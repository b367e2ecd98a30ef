//! The one conversion from the planner's errors to Python's.

use std::fmt::Display;

use penstock_planner::error::{Family, PlanError};
use penstock_planner::profile::Profile;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Raises a planner error as its class in `penstock.errors`.
pub fn to_python(py: Python<'_>, error: &PlanError) -> PyErr {
    build(py, error).unwrap_or_else(|failure| failure)
}

fn build(py: Python<'_>, error: &PlanError) -> PyResult<PyErr> {
    let class = match error.family() {
        Family::Spec => "SpecError",
        Family::StreamGraph => "StreamGraphError",
        Family::OperatorId => "OperatorIdError",
        Family::JobGraph => "JobGraphError",
        Family::ExecutionGraph => "ExecutionGraphError",
    };
    let arguments = PyDict::new(py);
    arguments.set_item("flink_class", error.flink_class())?;
    arguments.set_item("operators", PyTuple::new(py, error.operators())?)?;
    let value = py.import("penstock.errors")?.getattr(class)?.call((error.to_string(),), Some(&arguments))?;
    Ok(PyErr::from_value(value))
}

/// Unwraps a planner result.
pub fn check<T>(py: Python<'_>, result: penstock_planner::error::Result<T>) -> PyResult<T> {
    result.map_err(|error| to_python(py, &error))
}

/// The profile of a Flink version.
pub fn profile(py: Python<'_>, flink: &str) -> PyResult<Profile> {
    Profile::parse(flink).ok_or_else(|| {
        let known = Profile::ALL.iter().map(|known| format!("flink={known:?}")).collect::<Vec<_>>().join(" or ");
        let message = format!("Plans of Flink {flink:?} are not reproduced. Give {known}.");
        let error = py.import("penstock.errors").and_then(|errors| errors.getattr("UnsupportedError")?.call1((message,)));
        error.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// Parses one of Flink's spellings; `subject` says whose it is: the call, and the node or edge.
pub fn parse<T>(
    py: Python<'_>,
    subject: impl Display,
    field: &str,
    text: &str,
    spellings: &[&str],
    parse: fn(&str) -> Option<T>,
) -> PyResult<T> {
    parse(text).ok_or_else(|| {
        let error = PlanError::InvalidValue {
            subject: subject.to_string(),
            field: field.into(),
            value: format!("\"{text}\""),
            expected: format!("one of {}", spellings.join(", ")),
        };
        to_python(py, &error)
    })
}

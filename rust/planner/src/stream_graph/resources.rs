//! What operators need: Flink's `ResourceSpec`, and how needs add up.

use bigdecimal::{BigDecimal, RoundingMode};

/// What one operator or group needs.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSpec {
    /// CPU shares; decimal, because Flink adds them as BigDecimal.
    pub cpu: BigDecimal,
    /// Task heap, MiB.
    pub heap_mb: i64,
    /// Task off-heap, MiB.
    pub off_heap_mb: i64,
    /// Managed memory, MiB.
    pub managed_mb: i64,
}

impl ResourceSpec {
    /// Nothing at all, the neutral element of [`ResourceSpec::merge`].
    pub fn zero() -> Self {
        Self { cpu: BigDecimal::from(0), heap_mb: 0, off_heap_mb: 0, managed_mb: 0 }
    }

    /// The sum of two; destructured so that a new field cannot be forgotten.
    pub fn merge(&self, other: &Self) -> Self {
        let Self { cpu, heap_mb, off_heap_mb, managed_mb } = self;
        Self {
            cpu: cpu + &other.cpu,
            heap_mb: heap_mb.wrapping_add(other.heap_mb),
            off_heap_mb: off_heap_mb.wrapping_add(other.off_heap_mb),
            managed_mb: managed_mb.wrapping_add(other.managed_mb),
        }
    }

    /// CPU shares as the nearest double.
    pub fn cpu_as_f64(&self) -> f64 {
        self.cpu.to_string().parse().unwrap_or(f64::MAX)
    }
}

/// Minimum and preferred resources of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Resources {
    /// Without these it cannot run.
    pub min: ResourceSpec,
    /// With these it runs well.
    pub preferred: ResourceSpec,
}

impl Resources {
    /// With CPU shares cut to some decimals; all of them without a number.
    pub fn with_cpu_digits(&self, digits: Option<i64>) -> Self {
        let cut = |spec: &ResourceSpec| {
            let cpu = digits.map_or_else(|| spec.cpu.clone(), |digits| spec.cpu.with_scale_round(digits, RoundingMode::Down));
            ResourceSpec { cpu, ..spec.clone() }
        };
        Self { min: cut(&self.min), preferred: cut(&self.preferred) }
    }
}

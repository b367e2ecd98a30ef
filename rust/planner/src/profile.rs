//! Which Flink a plan equals. The passes are the same for all; where versions differ, a pass asks here for a value.
//!
//! Every method is a constant per profile, read off the real Flink (1.11.4 and 2.3.0), and says in one line what differs.

/// A version of Flink whose plans are reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Flink 1.11, the reference.
    #[default]
    V1_11,
    /// Flink 2.3.
    V2_3,
}

/// How a share of subtasks is rounded where two parallelisms do not divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shares {
    /// In 32-bit floats.
    Floats,
    /// In whole numbers.
    Exact,
}

impl Profile {
    /// Every spelling, the default first.
    pub const ALL: &'static [&'static str] = &["1.11", "2.3"];

    /// The profile with this spelling.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::V1_11, Self::V2_3].into_iter().find(|profile| profile.as_str() == text)
    }

    /// Its spelling.
    pub fn as_str(self) -> &'static str {
        self.pick("1.11", "2.3")
    }

    /// The release that the golden records come from.
    pub fn release(self) -> &'static str {
        self.pick("1.11.4", "2.3.0")
    }

    /// Chains start from the sources, and co-location follows the vertices, in the order of a hash table; else by id, and
    /// as they were made.
    pub fn hash_ordered(self) -> bool {
        self.pick(true, false)
    }

    /// Chain index of the head of a chain; 2.3 keeps 0 for sources that are chained as inputs.
    pub fn head_index(self) -> u32 {
        self.pick(0, 1)
    }

    /// What an unset buffer timeout becomes on a pipelined edge, in milliseconds; `None`: it stays unset.
    pub fn default_buffer_timeout(self) -> Option<i64> {
        self.pick(Some(100), None)
    }

    /// A vertex is connected as soon as it is made, so that what is wrong with its edges is seen before what is wrong with
    /// later vertices; else all are made first.
    pub fn connects_at_once(self) -> bool {
        self.pick(true, false)
    }

    /// Blocking edges of one operator with equal demands read one data set.
    pub fn shares_data_sets(self) -> bool {
        self.pick(false, true)
    }

    /// The id of a data set follows from the graph; else it is drawn at random.
    pub fn derives_data_set_ids(self) -> bool {
        self.pick(false, true)
    }

    /// The arithmetic of pointwise exchanges.
    pub fn shares(self) -> Shares {
        self.pick(Shares::Floats, Shares::Exact)
    }

    /// What a node weighs when managed memory is divided.
    pub fn memory_weight(self, declared: Option<i32>) -> i32 {
        self.pick(declared.unwrap_or(1), declared.unwrap_or(0).max(0))
    }

    /// A slot sharing group with known resources divides its managed memory by them and not by weights; and an operator of a
    /// group in which nobody weighs anything has a fraction of 0 and not none.
    pub fn memory_by_resources(self) -> bool {
        self.pick(true, false)
    }

    /// Decimals that CPU shares keep, the rest is cut off; `None`: all.
    pub fn cpu_digits(self) -> Option<i64> {
        self.pick(None, Some(8))
    }

    /// Building an ExecutionGraph checks the bounds of all vertices before it makes the first, and finds the regions.
    pub fn looks_ahead(self) -> bool {
        self.pick(false, true)
    }

    /// A vertex without slot sharing group is noticed before co-location is looked at.
    pub fn checks_groups_first(self) -> bool {
        self.pick(false, true)
    }

    /// A name or a uid may be the empty string.
    pub fn allows_empty_texts(self) -> bool {
        self.pick(true, false)
    }

    /// A source may have inputs.
    pub fn allows_fed_sources(self) -> bool {
        self.pick(true, false)
    }

    /// A vertex is described by the names of its operators in one line; else by their tree.
    pub fn describes_by_name(self) -> bool {
        self.pick(true, false)
    }

    /// There are iterations.
    pub fn allows_iterations(self) -> bool {
        self.pick(true, false)
    }

    /// One co-location constraint anywhere makes the job a single region; else members of a group in different regions are
    /// refused.
    pub fn co_located_jobs_are_one_region(self) -> bool {
        self.pick(true, false)
    }

    /// Regions that would wait for each other's blocking results become one (FLINK-17330).
    pub fn merges_region_cycles(self) -> bool {
        self.pick(false, true)
    }

    /// Readers are scheduled when whole results have been written; else when the partitions that they read have been.
    pub fn waits_for_whole_results(self) -> bool {
        self.pick(true, false)
    }

    /// A region also releases blocking partitions that it has written itself.
    pub fn releases_own_partitions(self) -> bool {
        self.pick(false, true)
    }

    /// The exception at something that is missing: a check of its own, or Java's null.
    pub fn class_of_missing(self, checked: Option<&'static str>) -> Option<&'static str> {
        self.pick(checked, Some("java.lang.NullPointerException"))
    }

    fn pick<T>(self, old: T, new: T) -> T {
        match self {
            Self::V1_11 => old,
            Self::V2_3 => new,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_come_back() {
        for &text in Profile::ALL {
            assert_eq!(Profile::parse(text).map(Profile::as_str), Some(text));
        }
        assert_eq!((Profile::parse("2.3.0"), Profile::default().as_str()), (None, Profile::ALL[0]));
    }

    #[test]
    fn no_weight_is_one_or_none() {
        assert_eq!([Profile::V1_11, Profile::V2_3].map(|profile| profile.memory_weight(None)), [1, 0]);
        assert_eq!([Profile::V1_11, Profile::V2_3].map(|profile| profile.memory_weight(Some(7))), [7, 7]);
    }
}

//! How long a bench takes for a number.

use std::time::Duration;

use criterion::Criterion;

/// Few samples of a run of the whole capture each, of so many seconds together.
pub(crate) fn configured(seconds: u64) -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(seconds))
}

//! How warnings name the runs and groups that they are of.

use super::counted;
use crate::study::{LabelValue, StudyResults};

/// What is said of the first of some runs, and of how many others it is so.
pub(super) fn first_of<'r>(mut said: impl Iterator<Item = (&'r str, String)>) -> Option<String> {
    let (name, said_of_first) = said.next()?;
    Some(match said.count() {
        0 => format!("{name}: {said_of_first}"),
        more => format!(
            "{name}: {said_of_first}; so it is of {}",
            counted(more as u64, "other run")
        ),
    })
}

/// Values of labels, by the places of these, in words; those that a run or a group has.
pub(super) fn labelled<'r>(
    results: &StudyResults,
    values: impl Iterator<Item = (usize, &'r Option<LabelValue>)>,
) -> String {
    let each = values.filter_map(|(place, value)| {
        let name = &results.labels[place].name;
        Some(format!("{name} = {}", value.as_ref()?.text()))
    });
    each.collect::<Vec<_>>().join(", ")
}

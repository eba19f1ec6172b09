//! How a draft says where its runs were captured.

use std::fmt::Write as _;

use super::guess::Shape;
use super::meanings::Guess;
use super::points::{Around, Further, is_point, sees_most_among, sides_among};
use super::{counted, quoted, shown};
use crate::study::words::Thousands;

/// How many files a section has; where they are not all that there is of their runs, how many runs, and which words
/// tell their captures apart: what these mean is a guess.
pub(super) fn runs(text: &mut String, shape: &Shape) {
    let Some(around) = &shape.around else {
        let _ = writeln!(text, "# {}", counted(shape.files));
        return;
    };
    let runs = Thousands::Comma.counted(shape.files as u64, "run");
    let each = if shape.files > 1 { " each" } else { "" };
    let [before, after] = &around.words;
    let _ = writeln!(
        text,
        "# {runs}{each} captured before ({before}) and after ({after}) a queue"
    );
}

/// Captures besides those that are the runs.
pub(super) fn points(text: &mut String, shape: &Shape) {
    let Some(around) = &shape.around else {
        places(text, shape);
        return;
    };
    for (key, template) in ["before", "after"].into_iter().zip(&around.sides) {
        if let Some(template) = template {
            let _ = writeln!(text, "{key} = {}", quoted(template));
        }
    }
    for other in &around.further {
        further(text, shape, around, other);
    }
}

/// Captures at a point that a section has no place for, unless they are taken for the runs.
fn further(text: &mut String, shape: &Shape, around: &Around, further: &Further) {
    let files = counted(further.names.len());
    let word = shown(std::slice::from_ref(&further.word));
    let _ = write!(text, "# Left out: {files} of another point, {word}");
    let is_of_all = further.names.len() == shape.files;
    let is_excepted = further.names.iter().any(|name| shape.excepts(name));
    let template = further.template.as_ref();
    let Some(template) = template.filter(|_| is_of_all && !is_excepted) else {
        let _ = writeln!(text, ": {}", shown(&further.names));
        return;
    };
    let _ = writeln!(text, ". For these as the runs, in place of `files`:");
    let _ = writeln!(text, "# files = {}", quoted(template));
    // What was the run itself needs a name then.
    let run = shape.texts().next().unwrap_or_default();
    for (key, side) in ["before", "after"].into_iter().zip(&around.sides) {
        if side.is_none() {
            let _ = writeln!(text, "# {key} = {}", quoted(run));
        }
    }
}

/// How a run is said that was captured at several places at once, where a label seems to tell these: else each of them
/// would be a run.
fn places(text: &mut String, shape: &Shape) {
    let is_place = |guess: &&Guess| {
        let mut values = guess.values.iter();
        values.len() > 1 && values.all(|value| is_point(value))
    };
    let Some(places) = shape.labels.iter().find(is_place) else {
        return;
    };
    let name = &places.name;
    let label = format!("{{{name}}}");
    let Some(template) = shape.texts().find(|template| template.contains(&label)) else {
        return;
    };
    let sides = sides_among(&places.values);
    let before = sides.map(|[before, _]| before);
    let sees_most = sees_most_among(&places.values);
    let Some(place) = sees_most.or(before).or(places.values.first()) else {
        return;
    };
    let at = |place: &str| quoted(&template.replace(&label, place));
    let _ = writeln!(
        text,
        "# If these are places that one run was captured at, take one (group_by goes without {name} then):"
    );
    let _ = writeln!(text, "# files = {}", at(place));
    if let Some([before, after]) = sides {
        // The run itself is in the place of the one that is not given.
        if place != before {
            let _ = writeln!(text, "# before = {}", at(before));
        }
        let _ = writeln!(text, "# after = {}", at(after));
    }
}

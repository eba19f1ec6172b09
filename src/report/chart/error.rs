//! What keeps a chart from being there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::capture::display_name;

/// What keeps a chart from being written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: the chart cannot be {fault}", display_name(path))]
pub struct ChartError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub fault: ChartFault,
}

/// Why a chart is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChartFault {
    /// It could not be made a picture of: in the drawing library's words, or those of a panic. Other charts can be.
    #[error("drawn: {0}")]
    Drawing(String),
    /// Its file could not be written: in the operating system's words, with what to do.
    #[error("written: {0}")]
    Writing(String),
}

/// What a drawing comes to, or what it said when it panicked.
///
/// It has no reason to. If it does, what was found in hours is not lost for a picture.
pub(crate) fn attempt<T>(draw: impl FnOnce() -> T) -> Result<T, String> {
    // What it was at work on is looked at no more, or is text and numbers that hold at any moment.
    catch_unwind(AssertUnwindSafe(draw)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        said.unwrap_or("it panicked").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Canvas, StudyChart, Style, save_study};

    #[test]
    fn a_chart_that_cannot_be_drawn_keeps_no_other_from_being_there() {
        let folder = tempfile::tempdir().unwrap();
        let chart = |stem: &str| StudyChart {
            topic: "goodput",
            stem: stem.to_owned(),
            canvas: Canvas::new(Style::default(), 100.0),
        };
        let mut charts = ["one", "two", "three"].map(chart);
        // So many pixels have no size.
        (charts[1].canvas.width, charts[1].canvas.height) = (1e12, 1e12);
        let drawn = save_study(&charts, folder.path(), false, Some(1)).unwrap();
        assert_eq!(drawn.names, ["one.png", "three.png"].map(PathBuf::from));
        let [undrawn] = drawn.undrawn.as_slice() else {
            panic!("{:?}", drawn.undrawn);
        };
        assert_eq!(undrawn.path, folder.path().join("two.png"));
        assert!(matches!(undrawn.fault, ChartFault::Drawing(_)), "{undrawn}");
        // What the disk refuses is no fault of a drawing.
        let refused = save_study(&charts, &folder.path().join("none"), false, Some(1));
        let fault = refused.unwrap_err().fault;
        assert!(matches!(fault, ChartFault::Writing(_)), "{fault}");
    }

    #[test]
    fn what_a_panic_said_is_told() {
        assert_eq!(attempt(|| 1), Ok(1));
        let axis = "axis";
        assert_eq!(
            attempt(|| panic!("no room")),
            Err::<(), _>("no room".into())
        );
        let said: Result<(), String> = attempt(|| panic!("no {axis}"));
        assert_eq!(said, Err("no axis".into()));
        let said: Result<(), String> = attempt(|| std::panic::panic_any(1));
        assert_eq!(said, Err("it panicked".into()));
    }
}

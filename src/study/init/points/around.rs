//! Where else runs were captured that a template names at one point.

use std::collections::BTreeSet;

use super::{Capture, Place, Point, Points, Run, SEPARATORS, inserted, replaced};
use crate::study::init::names::stem_of;
use crate::study::template::{Template, fill};

/// Where else the runs of a section were captured.
#[derive(Clone, Debug)]
pub(in crate::study::init) struct Around {
    /// Templates of the captures before and after the queue; none where these are the runs themselves.
    pub(in crate::study::init) sides: [Option<String>; 2],
    /// What tells these two.
    pub(in crate::study::init) words: [String; 2],
    /// Captures that a section has no place for.
    pub(in crate::study::init) further: Vec<Further>,
    /// A template of the runs without what tells the point, and without its ending.
    pub(in crate::study::init) plain: String,
    /// Templates that fit all points.
    pub(in crate::study::init) patterns: Vec<Template>,
}

/// Captures at a point that is neither side of the queue.
#[derive(Clone, Debug)]
pub(in crate::study::init) struct Further {
    pub(in crate::study::init) word: String,
    /// None where no template names them all.
    pub(in crate::study::init) template: Option<String>,
    pub(in crate::study::init) names: Vec<String>,
}

impl Points<'_> {
    /// Where else the runs of these files were captured, of which the template fits each; `None` where they are not of
    /// one point, or no template names what is before and after the queue of each.
    pub(in crate::study::init) fn around(
        &self,
        template: &Template,
        files: &[&str],
    ) -> Option<Around> {
        let named = Named::by(template, files, self)?;
        let sides = named.sides()?;
        Some(Around {
            words: named.words_of_sides().map(str::to_owned),
            further: named.further(),
            plain: named.plain()?,
            patterns: named.patterns(sides[0].as_deref()),
            sides,
        })
    }
}

/// Runs that a template names at one point.
struct Named<'r, 'n> {
    runs: Vec<&'r Run<'n>>,
    point: Point<'n>,
    /// The template, without its ending.
    stem: String,
    /// What tells the point in it; nothing for [`Point::Own`].
    word: &'n str,
    /// Labels of each run with their values.
    labels: Vec<Vec<(String, String)>>,
}

impl<'r, 'n> Named<'r, 'n> {
    /// The runs of these files; `None` where they are not of one point, or the template does not fit one of them.
    fn by(template: &Template, files: &[&str], points: &'r Points<'n>) -> Option<Self> {
        let of = files.iter().map(|name| points.of.get(name).copied());
        let of: Vec<(usize, Point<'n>)> = of.collect::<Option<_>>()?;
        let &(first, point) = of.first()?;
        if of.iter().any(|&(_, other)| other != point) {
            return None;
        }
        // Labels that may hold separators are written with a sign where files are sought, and only there.
        let text = template.text().replace("*}", "}");
        let labels = files.iter().map(|name| template.take_apart(name));
        Some(Self {
            runs: of.iter().map(|&(run, _)| &points.runs[run]).collect(),
            point,
            stem: stem_of(&text).0.to_owned(),
            word: points.runs[first].captures[&point].word,
            labels: labels.collect::<Option<_>>()?,
        })
    }

    /// Templates of the captures before and after the queue, but for the side that these runs are named at; `None`
    /// where there is none of one side.
    fn sides(&self) -> Option<[Option<String>; 2]> {
        let mut sides = [None, None];
        for (side, to) in sides.iter_mut().zip([Point::Before, Point::After]) {
            if to != self.point {
                *side = Some(self.template_at(to)?);
            }
        }
        Some(sides)
    }

    fn words_of_sides(&self) -> [&'n str; 2] {
        [Point::Before, Point::After].map(|side| self.runs[0].captures[&side].word)
    }

    /// A template that names all captures at another point.
    fn template_at(&self, to: Point<'n>) -> Option<String> {
        let sample = self.captures_at(to).next()?;
        let stems = match self.point {
            Point::Own => inserted(&self.stem, sample.word),
            _ => self.stems_with(sample.word),
        };
        let ending = stem_of(sample.name).1;
        let mut texts = stems.into_iter().map(|stem| format!("{stem}{ending}"));
        texts.find(|text| self.names_all(text, to))
    }

    /// Whether a template names all captures at a point; not every run has one there.
    fn names_all(&self, text: &str, to: Point<'n>) -> bool {
        let mut runs = self.runs.iter().zip(&self.labels);
        runs.all(|(run, labels)| {
            let value_of =
                |name: &str| Some(labels.iter().find(|(label, _)| label == name)?.1.clone());
            let capture = run.captures.get(&to);
            capture
                .is_none_or(|capture| fill(text, value_of).is_ok_and(|name| name == capture.name))
        })
    }

    /// The template with something else in the place of the word for the point.
    fn stems_with(&self, by: &str) -> Vec<String> {
        replaced(&self.stem, self.word, by, Place::Anywhere)
    }

    /// The template without a word for the point.
    fn plain(&self) -> Option<String> {
        let plain = match self.point {
            Point::Own => self.stem.clone(),
            _ => self.stems_with("").pop()?,
        };
        Some(plain.trim_matches(SEPARATORS).to_owned())
    }

    /// Captures at points that are neither side, nor the one that these runs are named at.
    fn further(&self) -> Vec<Further> {
        let further = self.points().into_iter().filter_map(|to| match to {
            Point::Further(word) if to != self.point => Some(Further {
                word: word.to_owned(),
                template: self.template_at(to),
                names: self
                    .captures_at(to)
                    .map(|capture| capture.name.to_owned())
                    .collect(),
            }),
            _ => None,
        });
        further.collect()
    }

    /// Templates that fit all points, one an ending; `before` is the one of the captures before the queue.
    fn patterns(&self, before: Option<&str>) -> Vec<Template> {
        let stems = match (before, self.point) {
            (Some(before), Point::Own) => {
                let [word, _] = self.words_of_sides();
                replaced(stem_of(before).0, word, "*", Place::Anywhere)
            }
            _ => self.stems_with("*"),
        };
        let points = self.points().into_iter();
        let captures = points.flat_map(|point| self.captures_at(point));
        let endings: BTreeSet<&str> = captures.map(|capture| stem_of(capture.name).1).collect();
        let patterns = endings
            .iter()
            .filter_map(|ending| Template::parse(&format!("{}{ending}", stems.first()?)).ok());
        patterns.collect()
    }

    /// Points that any of the runs was captured at.
    fn points(&self) -> BTreeSet<Point<'n>> {
        let captures = self.runs.iter().flat_map(|run| run.captures.keys());
        captures.copied().collect()
    }

    fn captures_at(&self, point: Point<'n>) -> impl Iterator<Item = &'r Capture<'n>> {
        self.runs
            .iter()
            .filter_map(move |run| run.captures.get(&point))
    }
}

//! Captures of one run at several points, told apart by a word in their names: `cubic_1-in` and `cubic_1-out`,
//! `before/cubic_1` and `after/cubic_1`.

mod around;

use std::collections::{BTreeMap, BTreeSet};

use super::meanings::{VANTAGES, is_cca};
use super::names::stem_of;
use crate::study::template::Template;

pub(super) use around::{Around, Further};

/// Where in a name a word tells the point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    /// First or last in the name of a file or folder: in the middle it is rather a condition, as in `cubic_before_1`.
    AtEdges,
}

/// What captures before and after a queue are called.
const SIDES: [([&str; 2], Place); 4] = [
    (["in", "out"], Place::Anywhere),
    (["ingress", "egress"], Place::Anywhere),
    (["before", "after"], Place::AtEdges),
    (["pre", "post"], Place::AtEdges),
];

/// The point whose capture is the run where all have one: it sees whole round trips, and all that is sent again.
const SEES_MOST: &str = "sender";

/// What most likely is that point where none is called so.
const SEES_MOST_LIKELY: &str = "server";

/// What words stand between.
const SEPARATORS: [char; 4] = ['/', '-', '_', '.'];

/// Stands where a name says the point: no name has it.
const GAP: &str = "\0";

/// Whether a word tells a point at which captures are taken.
pub(super) fn is_point(word: &str) -> bool {
    let sides = SIDES.iter().flat_map(|(words, _)| words);
    let mut points = sides.chain(&VANTAGES);
    points.any(|point| point.eq_ignore_ascii_case(word))
}

/// Words for the points before and after a queue that are among these.
pub(super) fn sides_among(words: &[String]) -> Option<[&String; 2]> {
    let among = |side: &str| words.iter().find(|word| word.eq_ignore_ascii_case(side));
    let mut sides = SIDES.iter();
    sides.find_map(|([before, after], _)| Some([among(before)?, among(after)?]))
}

/// The word among these for the point that sees most.
pub(super) fn sees_most_among(words: &[String]) -> Option<&String> {
    let among = |point: &str| words.iter().find(|word| *word == point);
    [SEES_MOST, SEES_MOST_LIKELY].into_iter().find_map(among)
}

/// A point at which a run was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Point<'n> {
    /// The name says none.
    Own,
    Before,
    After,
    /// Any other, by its word.
    Further(&'n str),
}

/// A capture of a run.
#[derive(Clone, Copy, Debug)]
struct Capture<'n> {
    name: &'n str,
    /// What tells its point; nothing for [`Point::Own`].
    word: &'n str,
}

/// A run that was captured before and after a queue.
#[derive(Debug)]
struct Run<'n> {
    /// What its names have in common, without endings, with [`GAP`] for the point.
    gapped: String,
    captures: BTreeMap<Point<'n>, Capture<'n>>,
    /// The point whose capture stands for it.
    main: Point<'n>,
}

/// What names of runs have to have in common for one section.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group<'n> {
    /// What tells the points of the captures that it names.
    pub(super) words: Vec<&'n str>,
    /// What these end in.
    endings: Vec<&'n str>,
}

/// What a capture is to its run.
pub(super) enum Role<'n> {
    /// All there is of it, as far as names tell.
    Alone,
    /// The one that stands for it.
    Main(Group<'n>),
    /// One of its points besides.
    Part,
}

/// The runs of a folder that were captured before and after a queue.
#[derive(Debug, Default)]
pub(super) struct Points<'n> {
    runs: Vec<Run<'n>>,
    /// Place of the run that a capture is of.
    of: BTreeMap<&'n str, (usize, Point<'n>)>,
}

impl<'n> Points<'n> {
    /// Finds them by their names.
    pub(super) fn of(names: &'n [String]) -> Self {
        let mut points = Self::default();
        for (words, place) in SIDES {
            points.find_sides(names, words, place);
        }
        points.find_own(names);
        points.find_further(names);
        points.choose_mains();
        points
    }

    /// Pairs of names that differ in these words alone, if that is the rule among those that have them.
    fn find_sides(&mut self, names: &'n [String], words: [&str; 2], place: Place) {
        let gapped = words.map(|word| {
            let mut gapped: BTreeMap<String, Vec<&'n str>> = BTreeMap::new();
            for name in self.free(names) {
                for key in replaced(stem_of(name).0, word, GAP, place) {
                    gapped.entry(key).or_default().push(name);
                }
            }
            gapped
        });
        let known: BTreeSet<&String> = self.runs.iter().map(|run| &run.gapped).collect();
        let mut taken = BTreeSet::new();
        let mut runs = Vec::new();
        for (key, befores) in gapped[0].iter().filter(|(key, _)| !known.contains(key)) {
            let afters = gapped[1].get(key).map_or(&[][..], Vec::as_slice);
            for &before in befores {
                let after = partner(before, befores.len(), afters);
                if let Some(after) = after
                    && !taken.contains(before)
                    && !taken.contains(after)
                {
                    taken.extend([before, after]);
                    runs.push((key.clone(), [before, after]));
                }
            }
        }
        let all: BTreeSet<&str> = gapped
            .iter()
            .flat_map(BTreeMap::values)
            .flatten()
            .copied()
            .collect();
        // Of names that mostly have no partner, who knows what they mean.
        if runs.len() <= all.len() - taken.len() {
            return;
        }
        for (gapped, names) in runs {
            let at = gapped.find(GAP).unwrap_or_default();
            let sides = [Point::Before, Point::After].into_iter().zip(names);
            let sides = sides.zip(words).map(|((point, name), word)| {
                let word = &name[at..at + word.len()];
                (point, Capture { name, word })
            });
            self.runs.push(Run {
                gapped,
                captures: BTreeMap::new(),
                main: Point::Before,
            });
            let run = self.runs.len() - 1;
            sides.for_each(|(point, capture)| self.add(run, point, capture));
        }
    }

    /// Captures that are called like a run, without a word for their point.
    fn find_own(&mut self, names: &'n [String]) {
        let mut stems: BTreeMap<&str, Vec<&'n str>> = BTreeMap::new();
        for name in self.free(names) {
            stems.entry(stem_of(name).0).or_default().push(name);
        }
        for run in 0..self.runs.len() {
            let own = own_of(&self.runs[run].gapped);
            let own = own.and_then(|own| stems.get(own.as_str()));
            if let Some(name) = own.and_then(|own| partner(self.name_before(run), 1, own))
                && !self.of.contains_key(name)
            {
                self.add(run, Point::Own, Capture { name, word: "" });
            }
        }
    }

    /// Captures at points with other words in the place of those for both sides.
    fn find_further(&mut self, names: &'n [String]) {
        let mut runs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, run) in self.runs.iter().enumerate() {
            runs.entry(&run.gapped).or_default().push(place);
        }
        let mut found: BTreeMap<&'n str, BTreeMap<usize, &'n str>> = BTreeMap::new();
        let mut folders = BTreeSet::new();
        for name in self.free(names) {
            let (stem, ending) = stem_of(name);
            for word in words(stem).map(|(_, word)| word).collect::<BTreeSet<_>>() {
                for key in replaced(stem, word, GAP, Place::Anywhere) {
                    let of = runs.get(key.as_str()).map_or(&[][..], Vec::as_slice);
                    let alike = |run: &&usize| stem_of(self.name_before(**run)).1 == ending;
                    if let Some(&run) = of.iter().find(alike).or(of.first()) {
                        found.entry(word).or_default().entry(run).or_insert(name);
                        folders.extend(
                            key.rsplit(GAP)
                                .next()
                                .filter(|rest| rest.contains('/'))
                                .map(|_| word),
                        );
                    }
                }
            }
        }
        let is_further = |word: &str, of: usize| {
            // A word that nobody knows is a point where each run has it; a folder may be another experiment.
            let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic());
            let is_told = is_word && !is_cca(&[word.to_owned()]) && !folders.contains(word);
            VANTAGES.contains(&word.to_lowercase().as_str()) || is_told && of == self.runs.len()
        };
        found.retain(|word, of| is_further(word, of.len()));
        for (word, of) in found {
            for (run, name) in of {
                if !self.of.contains_key(name) {
                    self.add(run, Point::Further(word), Capture { name, word });
                }
            }
        }
    }

    fn add(&mut self, run: usize, point: Point<'n>, capture: Capture<'n>) {
        self.runs[run].captures.insert(point, capture);
        self.of.insert(capture.name, (run, point));
    }

    fn name_before(&self, run: usize) -> &'n str {
        self.runs[run].captures[&Point::Before].name
    }

    /// Names that are of no run yet.
    fn free(&self, names: &'n [String]) -> impl Iterator<Item = &'n str> {
        let names = names.iter().map(String::as_str);
        names.filter(|name| !self.of.contains_key(name))
    }

    /// What a capture is to its run.
    pub(super) fn role(&self, name: &str) -> Role<'n> {
        let Some(&(run, point)) = self.of.get(name) else {
            return Role::Alone;
        };
        let main = self.runs[run].main;
        if main != point {
            return Role::Part;
        }
        let named =
            [main, Point::Before, Point::After].map(|point| self.runs[run].captures[&point]);
        Role::Main(Group {
            words: named.iter().map(|capture| capture.word).collect(),
            endings: named
                .iter()
                .map(|capture| stem_of(capture.name).1)
                .collect(),
        })
    }

    /// Says of each run which capture stands for it.
    fn choose_mains(&mut self) {
        let sees_most = |run: &Run<'n>| {
            let mut points = run.captures.keys();
            points.find(|point| matches!(point, Point::Further(word) if word.eq_ignore_ascii_case(SEES_MOST))).copied()
        };
        let has_one = self.runs.iter().all(|run| sees_most(run).is_some());
        for run in &mut self.runs {
            let own = Some(Point::Own).filter(|own| run.captures.contains_key(own));
            let main = own.or(sees_most(run).filter(|_| has_one));
            run.main = main.unwrap_or(Point::Before);
        }
    }

    /// The captures that stand for their runs.
    pub(super) fn mains(&self) -> impl Iterator<Item = &'n str> {
        self.runs.iter().map(|run| run.captures[&run.main].name)
    }

    /// Whether a capture is before or after the queue of one of these: a section that names it so does not take it for
    /// a run.
    pub(super) fn is_side_of(&self, name: &str, files: &BTreeSet<&str>) -> bool {
        let Some(&(run, Point::Before | Point::After)) = self.of.get(name) else {
            return false;
        };
        let mut captures = self.runs[run].captures.values();
        !files.contains(name) && captures.any(|capture| files.contains(capture.name))
    }

    /// Whether a capture belongs to a run that it does not stand for.
    pub(super) fn is_part(&self, name: &str) -> bool {
        matches!(self.role(name), Role::Part)
    }

    /// Whether a capture is one at another point of a run that one of these is of.
    pub(super) fn is_beside(&self, name: &str, files: &BTreeSet<&str>) -> bool {
        let Some(&(run, point)) = self.of.get(name) else {
            return false;
        };
        let mut captures = self.runs[run].captures.values();
        point != Point::Own && captures.any(|capture| files.contains(capture.name))
    }

    /// The captures among these that belong to another one of them, which is called like the run.
    pub(super) fn parts_of(&self, files: &[&'n str]) -> BTreeSet<&'n str> {
        let runs: BTreeSet<usize> = files.iter().filter_map(|name| self.own_run(name)).collect();
        let parts = files.iter().filter(|name| {
            let is_part = self
                .of
                .get(*name)
                .is_some_and(|(run, _)| runs.contains(run));
            is_part && self.own_run(name).is_none()
        });
        parts.copied().collect()
    }

    /// The run that a capture is called like.
    fn own_run(&self, name: &str) -> Option<usize> {
        let &(run, point) = self.of.get(name)?;
        (point == Point::Own).then_some(run)
    }

    /// Takes the runs that these captures stand for as captures that have nothing to do with each other.
    pub(super) fn forget(&mut self, mains: &[&str]) {
        let forgotten: BTreeSet<usize> = mains
            .iter()
            .filter_map(|name| Some(self.of.get(name)?.0))
            .collect();
        let runs = std::mem::take(self).runs.into_iter().enumerate();
        for (_, run) in runs.filter(|(place, _)| !forgotten.contains(place)) {
            let place = self.runs.len();
            self.of.extend(
                run.captures
                    .iter()
                    .map(|(&point, capture)| (capture.name, (place, point))),
            );
            self.runs.push(run);
        }
        self.choose_mains();
    }

    /// The template of the captures before the queue, of one that says nothing of the point though it fits these
    /// captures: `{cca}_{run}-in.pcap` of `{cca}_{run}.pcap`. None where it is not that.
    pub(super) fn before_of(&self, template: &Template, files: &[&str]) -> Option<Template> {
        let runs = files.iter().map(|name| {
            let run = self.of.get(name).map(|&(run, _)| run);
            run.filter(|_| self.own_run(name).is_none())
        });
        let runs: BTreeSet<usize> = runs.collect::<Option<_>>()?;
        let befores: Vec<&str> = runs.iter().map(|&run| self.name_before(run)).collect();
        let first = self.runs[*runs.first()?].captures[&Point::Before];
        let (stem, ending) = stem_of(template.text());
        let with_point = inserted(stem, first.word).into_iter();
        let mut with_point =
            with_point.filter_map(|stem| Template::parse(&format!("{stem}{ending}")).ok());
        with_point.find(|template| self.around(template, &befores).is_some())
    }
}

/// Which of these belongs to a name: one of its ending, else the only one where there is one of each.
fn partner<'n>(name: &str, named_so: usize, others: &[&'n str]) -> Option<&'n str> {
    let ending = stem_of(name).1;
    let alike = others.iter().find(|other| stem_of(other).1 == ending);
    let only = others
        .first()
        .filter(|_| named_so == 1 && others.len() == 1);
    alike.or(only).copied()
}

/// Words of a name or template and where they begin.
fn words(stem: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    stem.split(SEPARATORS).map(move |word| {
        let at = next;
        next += word.len() + 1;
        (at, word)
    })
}

/// A name with something else in the place of a word: of each that is there, and then of all at once, as folders and
/// files may both say the point.
fn replaced(stem: &str, word: &str, by: &str, place: Place) -> Vec<String> {
    let is_edge = |at: usize, word: &str| {
        let (ahead, behind) = (&stem[..at], &stem[at + word.len()..]);
        ahead.is_empty() || ahead.ends_with('/') || behind.is_empty() || behind.starts_with('/')
    };
    let found = words(stem).filter(|&(at, found)| {
        let is_word = !word.is_empty() && found.eq_ignore_ascii_case(word);
        is_word && (place == Place::Anywhere || is_edge(at, found))
    });
    let found: Vec<usize> = found.map(|(at, _)| at).collect();
    let with = |places: &[usize]| {
        let mut text = stem.to_owned();
        for &at in places.iter().rev() {
            text.replace_range(at..at + word.len(), by);
        }
        text
    };
    let mut texts: Vec<String> = found.iter().map(|&at| with(&[at])).collect();
    if found.len() > 1 {
        texts.push(with(&found));
    }
    texts
}

/// A name or template without a word for the point with one, wherever it may stand.
fn inserted(stem: &str, word: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let folders = stem.match_indices('/').map(|(at, _)| at + 1);
    let starts: Vec<usize> = [0].into_iter().chain(folders).collect();
    for separator in SEPARATORS {
        texts.push(format!("{stem}{separator}{word}"));
        for &at in &starts {
            texts.push(format!("{}{word}{separator}{}", &stem[..at], &stem[at..]));
        }
    }
    texts
}

/// What a run is called without a word for the point, where that stands first or last.
fn own_of(gapped: &str) -> Option<String> {
    let (ahead, behind) = gapped.split_once(GAP)?;
    let own = if behind.is_empty() {
        ahead.strip_suffix(SEPARATORS)?.to_owned()
    } else if ahead.is_empty() || ahead.ends_with('/') {
        format!("{ahead}{}", behind.strip_prefix(SEPARATORS)?)
    } else {
        return None;
    };
    let is_named = !own.is_empty() && !own.ends_with('/') && !own.contains(GAP);
    is_named.then_some(own)
}

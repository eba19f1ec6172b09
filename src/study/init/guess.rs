//! Files with names of one form, and the templates that take these apart.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::kinds::told_apart;
use super::meanings::{
    Guess, distinct, is_bare, is_cca, is_of_the_kind, named, repetition_of, unit_of, unused,
};
use super::names::{SEPARATORS, parts_of, stem_of};
use super::points::{Around, Group, Points, Role};
use crate::study::files::COMPRESSION_ENDINGS;
use crate::study::template::Template;

/// Files with names of one shape.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) files: usize,
    pub(super) labels: Vec<Guess>,
    /// Alike but for the endings of compression.
    templates: Vec<Template>,
    /// What names the files that these fit, too, and that are none of it.
    pub(super) except: Vec<String>,
    /// These files.
    others: BTreeSet<String>,
    /// Where else its runs were captured.
    pub(super) around: Option<Around>,
}

impl Shape {
    /// The shape of templates that give the same labels.
    pub(super) fn of(templates: Vec<Template>, names: &[String]) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut files = 0;
        for found in names.iter().filter_map(|name| take_apart(&templates, name)) {
            files += 1;
            for (label, value) in found {
                values.entry(label).or_default().push(value);
            }
        }
        let labels = templates.first().map_or_else(Vec::new, Template::labels);
        let labels = labels
            .into_iter()
            .map(|name| {
                let values = distinct(values.remove(name).unwrap_or_default());
                let unit = unit_of(name, &values);
                Guess {
                    name: name.to_owned(),
                    values,
                    unit,
                }
            })
            .collect();
        Self {
            files,
            labels,
            templates,
            except: Vec::new(),
            others: BTreeSet::new(),
            around: None,
        }
    }

    pub(super) fn fits(&self, name: &str) -> bool {
        take_apart(&self.templates, name).is_some() && !self.others.contains(name)
    }

    /// Whether `except` names a file.
    pub(super) fn excepts(&self, name: &str) -> bool {
        let excepts = |text: &String| {
            let template = Template::parse(text).ok();
            template.is_some_and(|template| template.take_apart(name).is_some())
        };
        self.except.iter().any(excepts)
    }

    /// What tells it from other shapes: its template without the ending and without what tells the point of a capture.
    pub(super) fn plain(&self) -> &str {
        match &self.around {
            Some(around) => &around.plain,
            None => stem_of(self.texts().next().unwrap_or_default()).0,
        }
    }

    /// Its templates as they are written.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().map(Template::text)
    }
}

/// What the first template that fits says of a name.
fn take_apart(templates: &[Template], name: &str) -> Option<Vec<(String, String)>> {
    let mut templates = templates.iter();
    templates.find_map(|template| template.take_apart(name))
}

/// What files of one kind have in common: the folder at the top, what separates the parts, and the
/// ending without that of compression.
type Class = (String, String, String);

fn class_of(name: &str) -> Class {
    let (stem, ending) = stem_of(name);
    let folder = name.split_once('/').map_or("", |(folder, _)| folder);
    // Files in folders of one kind belong together; what is apart at the top stays apart.
    let top = if folder.contains(SEPARATORS) {
        ""
    } else {
        folder
    };
    let ending = ending.to_ascii_lowercase();
    let mut compressions = COMPRESSION_ENDINGS.iter().filter(|end| !end.is_empty());
    let plain = compressions.find_map(|end| ending.strip_suffix(end));
    let (_, separators) = parts_of(stem);
    (
        top.to_owned(),
        separators.into_iter().collect(),
        plain.unwrap_or(&ending).to_owned(),
    )
}

/// Files that a shape leaves out one by one; of more of them its template is none.
const EXCEPT_MAX: usize = 16;

/// Names of one form, a template for each of their endings, and the other names that these fit.
struct Form<'n> {
    members: Vec<&'n String>,
    templates: Vec<Template>,
    around: Option<Around>,
    outside: Vec<Outside<'n>>,
}

/// A name that the templates of a form fit.
struct Outside<'n> {
    name: &'n String,
    /// What it says is of the same kind as what the members say, part by part.
    is_like: bool,
}

/// The names that shapes are made of, and what is known of them.
#[derive(Clone, Copy)]
struct Names<'a, 'n> {
    all: &'n [String],
    points: &'a Points<'n>,
}

impl<'n> Names<'_, 'n> {
    /// What those that are captured at several points have in common; `None` also of those that are parts of a run.
    fn group(self, name: &str) -> Option<Group<'n>> {
        match self.points.role(name) {
            Role::Main(group) => Some(group),
            Role::Alone | Role::Part => None,
        }
    }
}

impl<'n> Form<'n> {
    /// None where a template does not fit them all, or does not tell where else these runs of a group were captured.
    fn of(
        templates: Vec<Template>,
        members: Vec<&'n String>,
        group: Option<&Group<'n>>,
        names: Names<'_, 'n>,
    ) -> Option<Self> {
        let said = members.iter().map(|name| take_apart(&templates, name));
        let said: Vec<Vec<(String, String)>> = said.collect::<Option<_>>()?;
        let around = match group {
            Some(_) => Some(around(&templates, &members, names.points)?),
            None => None,
        };
        let places = said.first().map_or(0, Vec::len);
        let known =
            |place: usize| distinct(said.iter().map(|said| said[place].1.clone()).collect());
        let known: Vec<Vec<String>> = (0..places).map(known).collect();
        let is_like = |values: Vec<(String, String)>| {
            let mut values = values.iter().zip(&known);
            values.all(|((_, value), known)| is_of_the_kind(value, known))
        };
        let own: BTreeSet<&str> = members.iter().map(|name| name.as_str()).collect();
        let others = names.all.iter().filter(|name| !own.contains(name.as_str()));
        let others = others.filter(|name| !names.points.is_side_of(name, &own));
        let outside = others.filter_map(|name| {
            let is_like = is_like(take_apart(&templates, name)?);
            let is_one = !names.points.is_part(name) && names.group(name).as_ref() == group;
            Some(Outside {
                name,
                is_like: is_like && is_one,
            })
        });
        Some(Self {
            outside: outside.collect(),
            members,
            templates,
            around,
        })
    }

    /// How many files it has, with those that are like its own.
    fn files(&self) -> usize {
        self.members.len() + self.outside.iter().filter(|other| other.is_like).count()
    }

    /// What fits its files, and those of the other points of its runs.
    fn patterns(&self) -> Vec<Template> {
        let of_points = self.around.iter().flat_map(|around| &around.patterns);
        of_points.chain(&self.templates).cloned().collect()
    }

    /// The shape of the files that no other has: with those that are like its own, and without the others that its
    /// template fits, if patterns of theirs or few names tell these.
    fn shape(
        self,
        taken: &mut BTreeSet<&'n String>,
        patterns: &[Template],
        names: Names<'_, 'n>,
    ) -> Option<Shape> {
        let members = self.members.len();
        let is_one = |other: &Outside<'_>| other.is_like && !taken.contains(other.name);
        let (like, others): (Vec<_>, Vec<_>) = self.outside.into_iter().partition(is_one);
        let mut own = self.members;
        own.extend(like.into_iter().map(|other| other.name));
        let around = match self.around {
            Some(_) => Some(around(&self.templates, &own, names.points)?),
            None => None,
        };
        let files: BTreeSet<&str> = own.iter().map(|name| name.as_str()).collect();
        let others = others.into_iter().map(|other| other.name);
        let others = others.filter(|name| !names.points.is_side_of(name, &files));
        let others: Vec<&String> = others.collect();
        let except = except(&own, &others, patterns, members, names.all)?;
        taken.extend(own.iter().copied());
        let own: Vec<String> = own.into_iter().cloned().collect();
        Some(Shape {
            except,
            others: others.into_iter().cloned().collect(),
            around,
            ..Shape::of(self.templates, &own)
        })
    }
}

/// Where else these files were captured, whose one template is known.
fn around(templates: &[Template], files: &[&String], points: &Points<'_>) -> Option<Around> {
    let [template] = templates else {
        return None;
    };
    let files: Vec<&str> = files.iter().map(|name| name.as_str()).collect();
    points.around(template, &files)
}

/// What names the others beside its own files: patterns that fit none of these, and then single names, of which there
/// are fewer than members, and few at all.
fn except(
    own: &[&String],
    others: &[&String],
    patterns: &[Template],
    members: usize,
    names: &[String],
) -> Option<Vec<String>> {
    let mut left: Vec<&String> = others.to_vec();
    let mut except = Vec::new();
    for pattern in patterns {
        let fits = |name: &&String| pattern.take_apart(name).is_some();
        if left.iter().any(fits) && !own.iter().any(fits) {
            left.retain(|name| !fits(name));
            except.push(pattern.text().to_owned());
        }
    }
    let is_few = left.len() < members && left.len() <= EXCEPT_MAX;
    if !(left.is_empty() || is_few) {
        return None;
    }
    for name in left {
        except.push(spelled(name, names)?);
    }
    Some(except)
}

/// The shapes of names, each of more than one file; none has a file of another.
pub(super) fn shapes(names: &[String]) -> Vec<Shape> {
    shapes_at(names, &Points::default())
}

/// The shapes of the captures that stand for their runs, where these may have been captured at several points.
pub(super) fn shapes_at<'n>(names: &'n [String], points: &Points<'n>) -> Vec<Shape> {
    let names = Names { all: names, points };
    let mut classes: BTreeMap<(Class, Option<Vec<&'n str>>), Vec<&String>> = BTreeMap::new();
    for name in names.all.iter().filter(|name| !names.points.is_part(name)) {
        let words = names.group(name).map(|group| group.words);
        let class = (class_of(name), words);
        classes.entry(class).or_default().push(name);
    }
    let classes = classes.into_values();
    let forms = classes.flat_map(|members| forms(members, names));
    let forms = forms.filter(|members| is_form(members, names));
    let forms = forms.flat_map(|members| by_endings(members, names));
    // Those that take others in come first, so that these make no shape of their own.
    let mut forms: Vec<(usize, Form<'_>)> = forms.enumerate().collect();
    let patterns: Vec<Template> = forms.iter().flat_map(|(_, form)| form.patterns()).collect();
    forms.sort_by_key(|(_, form)| Reverse(form.files()));
    let mut taken = BTreeSet::new();
    let mut shapes: Vec<(usize, Shape)> = Vec::new();
    for (place, form) in forms {
        let is_taken = |name: &&String| taken.contains(name);
        let form = if form.members.iter().any(is_taken) {
            // Without those that another took in, the rest may be a form still.
            let rest = form.members.into_iter().filter(|name| !is_taken(name));
            let rest = Some(rest.collect()).filter(|rest: &Vec<&String>| is_form(rest, names));
            // They were of one group before, and are it still.
            rest.and_then(|rest| by_endings(rest, names).pop())
        } else {
            Some(form)
        };
        let shape = form.and_then(|form| form.shape(&mut taken, &patterns, names));
        shapes.extend(shape.map(|shape| (place, shape)));
    }
    shapes.sort_by_key(|&(place, _)| place);
    shapes.into_iter().map(|(_, shape)| shape).collect()
}

/// The shape of the captures that a given template fits, or their runs do; none where it fits none.
pub(super) fn shape_by<'n>(template: &Template, names: &'n [String], points: &Points<'n>) -> Shape {
    let fitting = |template: &Template| -> Vec<&'n str> {
        let names = names.iter().map(String::as_str);
        names
            .filter(|name| template.take_apart(name).is_some())
            .collect()
    };
    let files = fitting(template);
    let before = points.before_of(template, &files);
    let files = before.as_ref().map_or(files, fitting);
    let template = before.as_ref().unwrap_or(template);
    let parts = points.parts_of(&files);
    let files: BTreeSet<&str> = files.into_iter().collect();
    let own = names
        .iter()
        .filter(|name| files.contains(name.as_str()) && !parts.contains(name.as_str()));
    // Of a group of its own it takes in no others.
    let group = Group::default();
    let templates = vec![template.clone()];
    let form = Form::of(
        templates.clone(),
        own.collect(),
        Some(&group),
        Names { all: names, points },
    );
    let shape = form.and_then(|form| {
        let patterns = form.patterns();
        form.shape(
            &mut BTreeSet::new(),
            &patterns,
            Names { all: names, points },
        )
    });
    shape.unwrap_or_else(|| Shape::of(templates, names))
}

/// A form of these names; where a section names other captures of its runs, too, one of each of their endings.
fn by_endings<'n>(members: Vec<&'n String>, names: Names<'_, 'n>) -> Vec<Form<'n>> {
    let stem = template_of(&members);
    let mut groups: BTreeMap<Option<Group<'n>>, Vec<&String>> = BTreeMap::new();
    for name in members {
        groups.entry(names.group(name)).or_default().push(name);
    }
    let forms = groups.into_iter().filter_map(|(group, members)| {
        let templates = templates_of(&stem, &members)?;
        Form::of(templates, members, group.as_ref(), names)
    });
    forms.collect()
}

/// One file is no form, but where it is the run that several captures belong to.
fn is_form(members: &[&String], names: Names<'_, '_>) -> bool {
    let first = members.first();
    members.len() > 1 || first.is_some_and(|name| names.group(name).is_some())
}

/// The names of a class by what their parts mean, where a template for each takes none of another's.
fn forms<'n>(members: Vec<&'n String>, names: Names<'_, 'n>) -> Vec<Vec<&'n String>> {
    let apart = told_apart(&members);
    let is_sound = |of: &Vec<&'n String>| {
        let forms = by_endings(of.clone(), names);
        let is_other = |other: &Outside<'_>| other.is_like && !members.contains(&other.name);
        let files: usize = forms.iter().map(|form| form.members.len()).sum();
        let mut outside = forms.iter().flat_map(|form| &form.outside);
        files == of.len() && outside.all(is_other)
    };
    if apart.len() > 1 && apart.iter().all(is_sound) {
        apart
    } else {
        vec![members]
    }
}

/// A name as a template for it alone: `?` in the place of what a template would take for something else, or of what is
/// no text. None where another file is called so, too.
pub(super) fn spelled(name: &str, names: &[String]) -> Option<String> {
    let spelled = literal(name);
    if !spelled.contains('?') {
        return Some(spelled);
    }
    let template = Template::parse(&spelled).ok()?;
    let fitting = names
        .iter()
        .filter(|name| template.take_apart(name).is_some());
    (fitting.count() == 1).then_some(spelled)
}

/// A part of a name in a template.
pub(super) fn literal(part: &str) -> String {
    part.replace(['{', '}', '*', '?', char::REPLACEMENT_CHARACTER], "?")
}

/// A template for each ending of these names; none where one would be too long.
fn templates_of(stem: &str, names: &[&String]) -> Option<Vec<Template>> {
    let endings = names.iter().map(|name| stem_of(name).1);
    let templates = endings
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|ending| Template::parse(&format!("{stem}{ending}")).ok());
    templates.collect()
}

/// What these names have in common, but for their endings.
fn template_of(names: &[&String]) -> String {
    let parts: Vec<Vec<&str>> = names
        .iter()
        .map(|name| parts_of(stem_of(name).0).0)
        .collect();
    let (_, separators) = parts_of(stem_of(names[0]).0);
    let columns = parts.first().map_or(0, Vec::len);
    let values_at = |column: usize| {
        distinct(
            parts
                .iter()
                .filter_map(|parts| parts.get(column))
                .map(|&part| part.to_owned())
                .collect(),
        )
    };
    let ccas = (0..columns)
        .filter(|&column| is_cca(&values_at(column)) && values_at(column).len() > 1)
        .count();
    let all: Vec<Vec<String>> = (0..columns).map(values_at).collect();
    let repetition = repetition_of(&all);
    let mut template = String::new();
    let mut used: Vec<String> = Vec::new();
    for (column, values) in all.iter().enumerate() {
        if let [only] = &values[..] {
            template.push_str(&literal(only));
        } else {
            let (prefix, name) = named(values, ccas, &used);
            let behind = column.checked_sub(1).and_then(|last| separators.get(last));
            let name = match behind {
                Some('.') if name == "label1" => "title".to_owned(),
                _ if is_bare(values) && repetition != Some(column) => "number".to_owned(),
                _ => name,
            };
            let name = unused(name, &used);
            let _ = write!(template, "{prefix}{{{name}}}");
            used.push(name);
        }
        template.extend(separators.get(column));
    }
    template
}

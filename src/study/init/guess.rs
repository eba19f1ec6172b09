//! Files with names of one form, and the templates that take these apart.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::kinds::told_apart;
use super::meanings::{Guess, distinct, is_cca, is_of_the_kind, named, unit_of, unused};
use super::names::{SEPARATORS, parts_of, stem_of};
use crate::study::files::COMPRESSION_ENDINGS;
use crate::study::template::Template;

/// Files with names of one shape.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) files: usize,
    pub(super) labels: Vec<Guess>,
    /// Alike but for the endings of compression.
    templates: Vec<Template>,
    /// Files that these fit, too, and that are none of it.
    pub(super) except: Vec<String>,
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
                let unit = unit_of(&values);
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
        }
    }

    pub(super) fn fits(&self, name: &str) -> bool {
        take_apart(&self.templates, name).is_some()
            && !self.except.iter().any(|except| except == name)
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
    outside: Vec<Outside<'n>>,
}

/// A name that the templates of a form fit.
struct Outside<'n> {
    name: &'n String,
    /// What it says is of the same kind as what the members say, part by part.
    is_like: bool,
}

impl<'n> Form<'n> {
    /// None where there is no template, or it does not fit all of them.
    fn of(members: Vec<&'n String>, names: &'n [String]) -> Option<Self> {
        let templates = templates_of(&members)?;
        let said = members.iter().map(|name| take_apart(&templates, name));
        let said: Vec<Vec<(String, String)>> = said.collect::<Option<_>>()?;
        let places = said.first().map_or(0, Vec::len);
        let known =
            |place: usize| distinct(said.iter().map(|said| said[place].1.clone()).collect());
        let known: Vec<Vec<String>> = (0..places).map(known).collect();
        let is_like = |values: Vec<(String, String)>| {
            let mut values = values.iter().zip(&known);
            values.all(|((_, value), known)| is_of_the_kind(value, known))
        };
        let own: BTreeSet<&String> = members.iter().copied().collect();
        let others = names.iter().filter(|name| !own.contains(name));
        let outside = others.filter_map(|name| {
            let is_like = is_like(take_apart(&templates, name)?);
            Some(Outside { name, is_like })
        });
        Some(Self {
            outside: outside.collect(),
            members,
            templates,
        })
    }

    /// How many files it has, with those that are like its own.
    fn files(&self) -> usize {
        self.members.len() + self.outside.iter().filter(|other| other.is_like).count()
    }

    /// The shape of the files that no other has: with those that are like its own, and without few others that its
    /// template fits. None where one of its own is in another shape.
    fn shape(self, taken: &mut BTreeSet<&'n String>, names: &[String]) -> Option<Shape> {
        if self.members.iter().any(|name| taken.contains(name)) {
            return None;
        }
        let is_one = |other: &Outside<'_>| other.is_like && !taken.contains(other.name);
        let (like, others): (Vec<_>, Vec<_>) = self.outside.into_iter().partition(is_one);
        let is_few = others.len() < self.members.len() && others.len() <= EXCEPT_MAX;
        let are_told = others
            .iter()
            .all(|other| spelled(other.name, names).is_some());
        if !(others.is_empty() || is_few && are_told) {
            return None;
        }
        let mut own = self.members;
        own.extend(like.into_iter().map(|other| other.name));
        taken.extend(own.iter().copied());
        let own: Vec<String> = own.into_iter().cloned().collect();
        let except = others.into_iter().map(|other| other.name.clone());
        Some(Shape {
            except: except.collect(),
            ..Shape::of(self.templates, &own)
        })
    }
}

/// The shapes of names, each of more than one file; none has a file of another.
pub(super) fn shapes(names: &[String]) -> Vec<Shape> {
    let mut classes: BTreeMap<Class, Vec<&String>> = BTreeMap::new();
    for name in names {
        classes.entry(class_of(name)).or_default().push(name);
    }
    let classes = classes.into_values();
    let forms = classes.flat_map(|members| forms(members, names));
    let forms = forms.filter(|members| members.len() > 1);
    let forms = forms.filter_map(|members| Form::of(members, names));
    // Those that take others in come first, so that these make no shape of their own.
    let mut forms: Vec<(usize, Form<'_>)> = forms.enumerate().collect();
    forms.sort_by_key(|(_, form)| Reverse(form.files()));
    let mut taken = BTreeSet::new();
    let shapes = forms
        .into_iter()
        .filter_map(|(place, form)| Some((place, form.shape(&mut taken, names)?)));
    let mut shapes: Vec<(usize, Shape)> = shapes.collect();
    shapes.sort_by_key(|&(place, _)| place);
    shapes.into_iter().map(|(_, shape)| shape).collect()
}

/// The names of a class by what their parts mean, where a template for each takes none of another's.
fn forms<'n>(members: Vec<&'n String>, names: &'n [String]) -> Vec<Vec<&'n String>> {
    let apart = told_apart(&members);
    let is_sound = |of: &Vec<&'n String>| {
        let form = Form::of(of.clone(), names);
        let is_other = |other: &Outside<'_>| other.is_like && !members.contains(&other.name);
        form.is_some_and(|form| form.outside.iter().all(is_other))
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
fn templates_of(names: &[&String]) -> Option<Vec<Template>> {
    let stem = template_of(names);
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
    let mut template = String::new();
    let mut used: Vec<String> = Vec::new();
    for column in 0..columns {
        let values = values_at(column);
        if let [only] = &values[..] {
            template.push_str(&literal(only));
        } else {
            let (prefix, name) = named(&values, ccas, &used);
            let behind = column.checked_sub(1).and_then(|last| separators.get(last));
            let name = match behind {
                Some('.') if name == "label1" => "title".to_owned(),
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

//! How long flows took that a capture has from their first to their last packet: of many short ones, which papers show by
//! their size, as the time of a few packets is another than that of a thousand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analyze::{Flow, FlowFigures, FlowNames, Quality, all_ahead};
use crate::observe::Wanted;

use super::ChartOptions;
use super::axis::{Quantity, grouped};
use super::canvas::Canvas;
use super::choice::Scene;
use super::distribution::{Distribution, Distributions};
use super::label::{count, joined};
use super::looks::Looks;
use super::palette::{LINES, LINES_MAX, OTHER};
use super::style::{Size, Style};

/// Of fewer flows a line would be a stair of a few steps.
const LINE_MIN: usize = 10;

/// Of fewer flows together bars tell more.
pub(super) const FLOWS_MIN: usize = 30;

/// Sizes that are told apart: the smallest of each, in bytes, and what they are called.
const SIZES: [(u64, &str); 5] = [
    (0, "under 10 kB"),
    (10_000, "10–100 kB"),
    (100_000, "100 kB–1 MB"),
    (1_000_000, "1–10 MB"),
    (10_000_000, "10 MB or more"),
];

/// Flows without a name, beside others that have one.
const UNNAMED: &str = "unnamed";

/// A place among [`SIZES`], and a name.
type Group = (usize, Option<Arc<str>>);

/// A name, and what those that have it took, in s.
type NamedTimes<'t> = (Option<&'t str>, &'t [f64]);

/// Completion times, in s.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Times {
    of: BTreeMap<Group, Vec<f64>>,
    left_out: LeftOut,
}

/// Flows that are not drawn, by why.
#[derive(Debug, Default, PartialEq)]
struct LeftOut {
    /// They have no time that counts.
    not_whole: usize,
    /// Nothing tells their size.
    without_acks: usize,
    /// Too few others are like them.
    few: usize,
    /// There are no styles for more names.
    of_further_names: usize,
    /// There is no room for more sizes.
    of_further_sizes: usize,
}

impl LeftOut {
    /// Each in words; empty where there are none.
    fn notes(&self, called: &str) -> [String; 5] {
        let of_further_names = format!("of further {called}s");
        let few = format!("in groups of fewer than {LINE_MIN}");
        [
            (self.not_whole, "not seen from begin to end, or reset,"),
            (self.without_acks, "without ACKs"),
            (self.few, &few),
            (self.of_further_names, &of_further_names),
            (self.of_further_sizes, "of further sizes"),
        ]
        .map(|(n, why)| match n {
            0 => String::new(),
            n => format!("{} {why} not drawn", count(n, "flow")),
        })
    }
}

/// The completion times of a capture's flows, by size and, where several names have enough of them, by name. None without
/// some tens of flows.
pub(super) fn draw(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    let flows = larger_flows(scene.capture.flows());
    if flows.len() < FLOWS_MIN {
        return None;
    }
    let times = Times::of(&flows, &options.names);
    let names: BTreeSet<&str> = times.names().collect();
    let looks = Looks::of(names);
    let title = |what: &str| format!("{what} – {}", scene.title);
    times.figure(title, "name", &looks, scene.style)
}

/// Of each connection of TCP the flow of more bytes, with these. Of UDP nothing tells where a flow ends.
fn larger_flows<'a>(flows: impl Iterator<Item = Flow<'a>>) -> Vec<(u64, Flow<'a>)> {
    let all: Vec<Flow<'a>> = flows.filter(|flow| flow.tcp().is_some()).collect();
    let sized = all_ahead(&all, Wanted::All).map(|flow| {
        let bytes = flow.figures().goodput_bytes();
        (Some(flow.connection_id), bytes, *flow)
    });
    larger(sized)
}

/// Of each connection the flow of more bytes, the first of two with as many: a request takes no time that anybody waits
/// for. The flows of a connection follow each other; one of none is alone.
pub(super) fn larger<T>(flows: impl Iterator<Item = (Option<u64>, u64, T)>) -> Vec<(u64, T)> {
    let mut larger: Vec<(u64, T)> = Vec::with_capacity(flows.size_hint().0);
    let mut last = None;
    for (connection, bytes, flow) in flows {
        match larger.last_mut() {
            Some(other) if connection.is_some() && connection == last => {
                if bytes > other.0 {
                    *other = (bytes, flow);
                }
            }
            _ => larger.push((bytes, flow)),
        }
        last = connection;
    }
    larger
}

/// Whether a flow of which this is to be known was there from begin to end, so that its completion time counts.
pub(super) fn is_whole(has: impl Fn(Quality) -> bool) -> bool {
    let mut lacks = Quality::INCOMPLETE.iter().chain(&[Quality::MidStream]);
    !lacks.any(|&quality| has(quality))
}

/// The completion time of a flow that the capture has as a whole, in s.
fn completion_s(flow: &Flow<'_>, figures: &FlowFigures<'_>) -> Option<f64> {
    let parts = flow.connection().parts();
    let quality = figures.quality(&figures.incidents(), &parts.handshake(), &parts.facts());
    let quality: Vec<Quality> = quality.collect();
    if !is_whole(|of| quality.contains(&of)) {
        return None;
    }
    Some(figures.completion_ns()? as f64 / 1e9)
}

/// The place among [`SIZES`] of a flow of so many bytes.
fn size_of(bytes: u64) -> usize {
    SIZES.partition_point(|&(least, _)| least <= bytes) - 1
}

impl Times {
    fn of(flows: &[(u64, Flow<'_>)], names: &FlowNames) -> Self {
        let mut times = Self::default();
        for (bytes, flow) in flows {
            let seconds = completion_s(flow, &flow.figures());
            times.add(Some(*bytes), seconds, || names.of(flow));
        }
        times
    }

    /// Adds a flow of so many bytes, where its ACKs tell, and of which name it is; one without a time was not there as a
    /// whole.
    pub(super) fn add(
        &mut self,
        bytes: Option<u64>,
        seconds: Option<f64>,
        name: impl FnOnce() -> Option<Arc<str>>,
    ) {
        match (seconds, bytes) {
            (None, _) => self.left_out.not_whole += 1,
            (_, None) => self.left_out.without_acks += 1,
            (Some(seconds), Some(bytes)) => {
                let of_group = self.of.entry((size_of(bytes), name())).or_default();
                of_group.push(seconds);
            }
        }
    }

    /// The names of its groups.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.of.keys().filter_map(|(_, name)| name.as_deref())
    }

    /// The figure, what names are being told by `called`; none without some tens of flows.
    pub(super) fn figure(
        self,
        title: impl FnOnce(&str) -> String,
        called: &str,
        looks: &Looks,
        style: Style,
    ) -> Option<Canvas> {
        let times = self.shown(style.size);
        let n: usize = times.of.values().map(Vec::len).sum();
        if n < FLOWS_MIN {
            return None;
        }
        let is_zero = |seconds: &f64| *seconds <= 0.0;
        let has_zero = times.of.values().flatten().any(is_zero);
        let mut notes =
            vec!["from first to last data; of each connection the direction with more".to_owned()];
        if has_zero {
            notes.push("0: within one instant".to_owned());
        }
        notes.extend(times.left_out.notes(called));
        let by = if times.is_by_name() {
            format!("size and {called}")
        } else {
            "size".to_owned()
        };
        let panels = times.panels(looks);
        // Those without a name stand behind the others.
        let lines = || panels.iter().flat_map(|(_, lines)| lines);
        let (others, named): (Vec<_>, Vec<_>) = lines().partition(|line| line.style == OTHER);
        let order = named.into_iter().chain(others);
        let order = Looks::of(order.map(|line| line.name.as_str()));
        Distributions {
            title: title(&format!("Completion times of flows by {by}")),
            note: joined(&notes),
            quantity: Quantity::COMPLETION,
            panels,
            histogram: false,
        }
        .draw_as(style, &order)
    }

    /// What a chart shows of them: lines of enough flows, by name where there are several of these and room for them.
    fn shown(mut self, size: Size) -> Self {
        let mut of_names: BTreeMap<Option<Arc<str>>, usize> = BTreeMap::new();
        for ((_, name), times) in &self.of {
            if times.len() >= LINE_MIN {
                *of_names.entry(name.clone()).or_default() += times.len();
            }
        }
        if of_names.len() < 2 {
            for ((size, _), mut times) in std::mem::take(&mut self.of) {
                self.of.entry((size, None)).or_default().append(&mut times);
            }
        }
        let mut largest: Vec<(usize, Option<Arc<str>>)> = of_names
            .into_iter()
            .map(|(name, flows)| (flows, name))
            .collect();
        largest.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        let too_many = largest.split_off(largest.len().min(LINES_MAX));
        self.keep(|left| &mut left.few, |_, times| times.len() >= LINE_MIN);
        self.keep(
            |left| &mut left.of_further_names,
            |(_, name), _| !too_many.iter().any(|(_, other)| other == name),
        );
        // Each size has a panel, of which a slide has room for a row.
        if self.is_by_name() && size == Size::Slide {
            const PANELS: usize = 3;
            let mut of_sizes = [0; SIZES.len()];
            for (&(size, _), times) in &self.of {
                of_sizes[size] += times.len();
            }
            let mut sizes: Vec<usize> = (0..SIZES.len()).collect();
            sizes.sort_by_key(|&size| std::cmp::Reverse(of_sizes[size]));
            self.keep(
                |left| &mut left.of_further_sizes,
                |(size, _), _| sizes[..PANELS].contains(size),
            );
        }
        self
    }

    /// Leaves out groups, for one reason.
    fn keep(
        &mut self,
        why: impl Fn(&mut LeftOut) -> &mut usize,
        is_kept: impl Fn(&Group, &[f64]) -> bool,
    ) {
        let left = why(&mut self.left_out);
        self.of.retain(|group, times| {
            let is_kept = is_kept(group, times);
            if !is_kept {
                *left += times.len();
            }
            is_kept
        });
    }

    fn is_by_name(&self) -> bool {
        self.of.keys().any(|(_, name)| name.is_some())
    }

    /// A line a size in one panel or, of flows with names, a panel a size with a line a name.
    fn panels(&self, looks: &Looks) -> Vec<(String, Vec<Distribution>)> {
        if !self.is_by_name() {
            let lines = self.of.iter().map(|(&(size, _), times)| {
                Distribution::of_values(SIZES[size].1.to_owned(), LINES[size], times)
            });
            return vec![(String::new(), lines.collect())];
        }
        let mut of_names: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        let mut sizes: BTreeMap<usize, Vec<NamedTimes<'_>>> = BTreeMap::new();
        for ((size, name), times) in &self.of {
            *of_names.entry(name.as_deref()).or_default() += times.len();
            let lines = sizes.entry(*size).or_default();
            lines.push((name.as_deref(), times));
        }
        let has_many = sizes.len() > 1;
        let line = |(name, times): NamedTimes<'_>| {
            let n = grouped(of_names[&name] as u64);
            let (name, style) = name.map_or((UNNAMED, OTHER), |name| (name, looks.style(name)));
            // Of one panel the legend has it anyway.
            let name = if has_many {
                format!("{name} (n = {n})")
            } else {
                name.to_owned()
            };
            Distribution::of_values(name, style, times)
        };
        let panels = sizes.into_iter().map(|(size, mut lines)| {
            lines.sort_by_key(|&(name, _)| name.map_or(usize::MAX, |name| looks.place(name)));
            (
                SIZES[size].1.to_owned(),
                lines.into_iter().map(line).collect(),
            )
        });
        panels.collect()
    }
}

#[cfg(test)]
mod tests;

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

/// Why a flow of TCP has no completion time that counts.
const NOT_WHOLE: [Quality; 3] = [Quality::MidStream, Quality::Unfinished, Quality::Reset];

/// Flows without a name, beside others that have one.
const OTHERS: &str = "others";

/// A place among [`SIZES`], and a name.
type Group = (usize, Option<Arc<str>>);

/// A name, and what those that have it took, in s.
type NamedTimes<'t> = (Option<&'t str>, &'t [f64]);

/// Completion times, in s.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Times {
    of: BTreeMap<Group, Vec<f64>>,
    /// Flows that have none.
    not_whole: usize,
    /// Those that have one, but stand beside too few others, or too many names.
    few: usize,
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

/// Of each connection of TCP the flow with more payload, the first of two with as much: a request takes no time that
/// anybody waits for. Of UDP nothing tells where a flow ends.
fn larger_flows<'a>(flows: impl Iterator<Item = Flow<'a>>) -> Vec<Flow<'a>> {
    let all: Vec<Flow<'a>> = flows.filter(|flow| flow.tcp().is_some()).collect();
    let mut larger: Vec<(u64, Flow<'a>)> = Vec::with_capacity(all.len());
    for flow in all_ahead(&all, Wanted::Outlines) {
        let bytes = flow.payload_bytes();
        match larger.last_mut() {
            // The flows of a connection follow each other.
            Some(last) if last.1.connection_id == flow.connection_id => {
                if bytes > last.0 {
                    *last = (bytes, *flow);
                }
            }
            _ => larger.push((bytes, *flow)),
        }
    }
    larger.into_iter().map(|(_, flow)| flow).collect()
}

/// The completion time of a flow that the capture has as a whole, in s.
fn completion_s(flow: &Flow<'_>, figures: &FlowFigures<'_>) -> Option<f64> {
    let parts = flow.connection().parts();
    let mut quality = figures.quality(&figures.incidents(), &parts.handshake(), &parts.facts());
    if quality.any(|quality| NOT_WHOLE.contains(&quality)) {
        return None;
    }
    Some(figures.completion_ns()? as f64 / 1e9)
}

/// The place among [`SIZES`] of a flow of so many bytes.
fn size_of(bytes: u64) -> usize {
    SIZES.partition_point(|&(least, _)| least <= bytes) - 1
}

impl Times {
    fn of(flows: &[Flow<'_>], names: &FlowNames) -> Self {
        let mut times = Self::default();
        for flow in all_ahead(flows, Wanted::All) {
            let figures = flow.figures();
            let seconds = completion_s(flow, &figures);
            times.add(figures.goodput_bytes(), seconds, || names.of(flow));
        }
        times
    }

    /// Adds a flow of so many bytes, and of which name it is; one without a time was not there as a whole.
    pub(super) fn add(
        &mut self,
        bytes: u64,
        seconds: Option<f64>,
        name: impl FnOnce() -> Option<Arc<str>>,
    ) {
        match seconds {
            Some(seconds) => {
                let of_group = self.of.entry((size_of(bytes), name())).or_default();
                of_group.push(seconds);
            }
            None => self.not_whole += 1,
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
        let notes = [
            "from first to last data; of each connection the direction with more".to_owned(),
            if has_zero {
                "0: all in one packet".to_owned()
            } else {
                String::new()
            },
            times.left_out(),
        ];
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
        let is_few = |(_, name): &Group, times: &[f64]| {
            times.len() < LINE_MIN || too_many.iter().any(|(_, other)| other == name)
        };
        self.keep(|group, times| !is_few(group, times));
        // Each size has a panel, of which a slide has room for a row.
        if self.is_by_name() && size == Size::Slide {
            const PANELS: usize = 3;
            let mut of_sizes = [0; SIZES.len()];
            for (&(size, _), times) in &self.of {
                of_sizes[size] += times.len();
            }
            let mut sizes: Vec<usize> = (0..SIZES.len()).collect();
            sizes.sort_by_key(|&size| std::cmp::Reverse(of_sizes[size]));
            self.keep(|(size, _), _| sizes[..PANELS].contains(size));
        }
        self
    }

    fn keep(&mut self, is_kept: impl Fn(&Group, &[f64]) -> bool) {
        let few = &mut self.few;
        self.of.retain(|group, times| {
            let is_kept = is_kept(group, times);
            if !is_kept {
                *few += times.len();
            }
            is_kept
        });
    }

    /// What is not drawn, and why; empty where all is.
    fn left_out(&self) -> String {
        let flows = |n: usize| count(n, "flow");
        match (self.not_whole, self.few) {
            (0, 0) => String::new(),
            (0, few) => format!("not drawn: {} of sizes with few", flows(few)),
            (begun, 0) => format!("not drawn: {} without begin or end", flows(begun)),
            (begun, few) => format!(
                "not drawn: {} without begin or end, {few} of sizes with few",
                flows(begun)
            ),
        }
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
            let (name, style) = name.map_or((OTHERS, OTHER), |name| (name, looks.style(name)));
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

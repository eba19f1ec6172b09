//! What flows are called by who knows them, where their ends tell readers nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Analysis, CaptureAnalysis, Flow};
use crate::decode::Filter;

/// Names of flows, by what they match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowNames {
    names: Vec<(Filter, Arc<str>)>,
}

impl FlowNames {
    /// Gives a name to flows that match, but those that have one by a filter before.
    pub fn add(&mut self, filter: Filter, name: &str) {
        self.names.push((filter, name.into()));
    }

    /// The name of a flow, if it has one.
    #[must_use]
    pub fn of(&self, flow: &Flow<'_>) -> Option<Arc<str>> {
        // Of most runs: the ends of very many flows are not looked up for nothing.
        if self.names.is_empty() {
            return None;
        }
        let (src, dst) = flow.ends();
        self.first(|filter| match flow.tcp() {
            Some(_) => filter.keeps(&src, &dst),
            None => filter.keeps_datagram(&src, &dst),
        })
    }

    /// Names that no flow of a run has.
    #[must_use]
    pub fn unused_in(&self, analysis: &Analysis) -> Vec<&str> {
        let flows = analysis.captures.iter().flat_map(CaptureAnalysis::flows);
        self.unused(flows.filter_map(|flow| self.of(&flow)))
    }

    /// Names that are not among these.
    pub(crate) fn unused(&self, used: impl Iterator<Item = Arc<str>>) -> Vec<&str> {
        // Of many flows it takes its time to look at all.
        if self.names.is_empty() {
            return Vec::new();
        }
        let used: BTreeSet<Arc<str>> = used.collect();
        let names = self.names.iter().map(|(_, name)| &**name);
        names.filter(|name| !used.contains(*name)).collect()
    }

    /// The first name whose filter is the one that is looked for.
    pub(crate) fn first(&self, is_it: impl Fn(&Filter) -> bool) -> Option<Arc<str>> {
        let mut names = self.names.iter();
        let (_, name) = names.find(|(filter, _)| is_it(filter))?;
        Some(name.clone())
    }
}

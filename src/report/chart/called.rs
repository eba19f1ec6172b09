//! What flows are called by who knows them, where their ends tell readers nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::analyze::{Analysis, CaptureAnalysis, Flow};
use crate::decode::Filter;
use crate::path::{FlowKey, PathAnalysis};

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

    /// Names that no flow of a run has.
    #[must_use]
    pub fn unused_in(&self, analysis: &Analysis) -> Vec<&str> {
        let flows = analysis.captures.iter().flat_map(CaptureAnalysis::flows);
        self.unused(flows.filter_map(|flow| self.of(&flow)))
    }

    /// Names that no flow of a path has.
    #[must_use]
    pub fn unused_on(&self, analysis: &PathAnalysis) -> Vec<&str> {
        let flows = analysis
            .hops
            .iter()
            .flat_map(|hop| hop.flows.iter().flatten());
        self.unused(flows.filter_map(|flow| self.of_key(&flow.key)))
    }

    fn unused(&self, used: impl Iterator<Item = Arc<str>>) -> Vec<&str> {
        // Of many flows it takes its time to look at all.
        if self.names.is_empty() {
            return Vec::new();
        }
        let used: BTreeSet<Arc<str>> = used.collect();
        let names = self.names.iter().map(|(_, name)| &**name);
        names.filter(|name| !used.contains(*name)).collect()
    }

    /// The name of a flow, if it has one.
    pub(super) fn of(&self, flow: &Flow<'_>) -> Option<Arc<str>> {
        let (src, dst) = flow.ends();
        self.first(|filter| match flow.tcp() {
            Some(_) => filter.keeps(&src, &dst),
            None => filter.keeps_datagram(&src, &dst),
        })
    }

    /// That of a flow of a path.
    pub(super) fn of_key(&self, key: &FlowKey) -> Option<Arc<str>> {
        self.first(|filter| key.is_kept_by(filter))
    }

    fn first(&self, is_it: impl Fn(&Filter) -> bool) -> Option<Arc<str>> {
        let mut names = self.names.iter();
        let (_, name) = names.find(|(filter, _)| is_it(filter))?;
        Some(name.clone())
    }
}

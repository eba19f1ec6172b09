//! What flows of a path are called by who knows them.

use std::sync::Arc;

use super::{FlowKey, PathAnalysis};
use crate::analyze::FlowNames;

impl FlowNames {
    /// The name of a flow of a path, if it has one.
    #[must_use]
    pub fn of_key(&self, key: &FlowKey) -> Option<Arc<str>> {
        self.first(|filter| key.is_kept_by(filter))
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
}

//! The addresses of a flow as text.

use std::sync::Arc;

use crate::analyze::Flow;

/// Both addresses, written once for all rows of a flow.
#[derive(Clone)]
pub(super) struct Addresses {
    pub(super) src: Arc<str>,
    pub(super) dst: Arc<str>,
}

impl Addresses {
    pub(super) fn of(flow: &Flow<'_>) -> Self {
        let (src, dst) = flow.ends();
        Self {
            src: src.ip().to_string().into(),
            dst: dst.ip().to_string().into(),
        }
    }
}

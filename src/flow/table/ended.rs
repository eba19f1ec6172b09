//! Connections that are in their table no longer, on their way to the observer.

use super::young::{GrowingUp, SIDE_BY_SIDE};
use super::{ConnectionTable, Head, Observer, Tracked};

/// A connection that has ended.
pub(super) struct Ended<F> {
    head: Head,
    flow: Option<Box<Tracked<F>>>,
    cut_by_limit: bool,
}

impl<F> Ended<F> {
    /// The one of which the table had this; put away because there were too many, or not.
    pub(super) fn of(head: Head, flow: Option<Box<Tracked<F>>>, cut_by_limit: bool) -> Self {
        Self {
            head,
            flow,
            cut_by_limit,
        }
    }
}

impl<O: Observer> ConnectionTable<O> {
    /// Ends the connection at `index`.
    pub(super) fn close(&mut self, index: usize, cut_by_limit: bool) {
        let ended = self.take_out(index, cut_by_limit);
        self.hand_back(&mut vec![ended]);
    }

    /// Takes the connection at `index` out of the table; the last one is there then.
    pub(super) fn take_out(&mut self, index: usize, cut_by_limit: bool) -> Ended<O::Sink> {
        let head = self.heads.swap_remove(index);
        let flow = self.tracked.swap_remove(index);
        self.index.remove(head.hash, index);
        if let Some(moved) = self.heads.get(index) {
            self.index.renumber(moved.hash, self.heads.len(), index);
        }
        Ended::of(head, flow, cut_by_limit)
    }

    /// One more has ended: hands them back once they are [enough](SIDE_BY_SIDE).
    pub(super) fn end(&mut self, ended: &mut Vec<Ended<O::Sink>>, next: Ended<O::Sink>) {
        ended.push(next);
        if ended.len() == SIDE_BY_SIDE {
            self.hand_back(ended);
        }
    }

    /// Hands connections, [so many](SIDE_BY_SIDE) at most, to the observer, the first first. One step is taken with all
    /// of them, then the next.
    pub(super) fn hand_back(&mut self, ended: &mut Vec<Ended<O::Sink>>) {
        let mut growing_up = Vec::with_capacity(SIDE_BY_SIDE);
        for Ended { head, flow, .. } in &mut *ended {
            self.held_bytes -= head.held_bytes;
            if flow.is_none() {
                let payload_bytes = head.young.payload_bytes();
                let sink = self.observer.open_ended(&head.identity, payload_bytes);
                growing_up.push(GrowingUp {
                    identity: &head.identity,
                    young: &mut head.young,
                    flow: flow.insert(Tracked::new(self.limits.track, sink)),
                });
            }
        }
        GrowingUp::tell::<O>(&mut growing_up, &mut self.young);
        for flow in ended.iter_mut().filter_map(|ended| ended.flow.as_mut()) {
            flow.connection.finish(&mut flow.sink);
        }
        for ended in ended.drain(..) {
            let Ended {
                head,
                flow: Some(flow),
                cut_by_limit,
            } = ended
            else {
                continue;
            };
            self.facts.cut_by_limit += u64::from(cut_by_limit);
            self.observer
                .close(&head.identity, &flow.connection, flow.sink, cut_by_limit);
            self.put_away_attempts(&head.syns, cut_by_limit);
        }
    }
}

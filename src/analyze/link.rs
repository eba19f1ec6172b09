//! The narrowest link that flows passed, as their packets show it (METRICS.md R8).

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::ops::RangeInclusive;

use super::ahead::all_ahead;
use super::capture::CaptureAnalysis;
use super::flow::Flow;
use super::parts::in_parts;
use crate::metric::{self, Dispersion, Link};
use crate::observe::{self, Spacing, Wanted};

/// What the flows of a capture show of the links that they passed, as estimates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRates {
    /// Of each flow by itself, in bits of IP packets a second, in the order of
    /// [`CaptureAnalysis::flows`].
    pub flows_bps: Vec<Option<f64>>,
    /// The flow of the main way (METRICS.md N0) that shows the link which most bytes of that way passed, by its place
    /// in that order.
    pub shared: Option<usize>,
}

impl LinkRates {
    /// Rates of links, of all flows of a capture; `main_way` says of each whether it
    /// [goes that](CaptureAnalysis::main_way), and what it leaves out does not. `bin_ns` is
    /// [that of its series](CaptureAnalysis::bin_ns), here and in what follows: with any other, links are held against rates
    /// that nothing was delivered with, and left out, or not, by these.
    ///
    /// A flow whose packets always had others in between shows half or a third of what another
    /// flow that goes its way shows to be the link: it has none of its own.
    #[must_use]
    pub fn of(flows: &[Flow<'_>], main_way: &[bool], bin_ns: i64) -> Self {
        let shown = |flows: &[Flow<'_>]| -> Vec<_> {
            let flows = all_ahead(flows, Wanted::Outlines);
            flows.map(|flow| flow.link(bin_ns)).collect()
        };
        let mut links = in_parts(flows, shown).concat();
        let rates = |links: &[Option<Link>]| -> Vec<_> {
            let links = links.iter().copied();
            links.map(|link| Some(link?.bps)).collect()
        };
        // Of most captures with very many flows none does.
        if links.iter().all(Option::is_none) {
            return Self {
                flows_bps: rates(&links),
                shared: None,
            };
        }
        leave_out_slower(flows, bin_ns, &mut links);
        leave_out_bursts(flows, bin_ns, &mut links);
        let mut flows_bps = rates(&links);
        leave_out_parts(flows, main_way, false, &mut flows_bps);
        let shared = leave_out_parts(flows, main_way, true, &mut flows_bps);
        Self { flows_bps, shared }
    }

    /// Rate of the link that most bytes of the main way passed, in bits of IP packets a second; `None` where none
    /// shows, or where less than `delivered_bps` would be: what that way was delivered for a second (METRICS.md R7).
    #[must_use]
    pub fn shared_bps(&self, delivered_bps: Option<f64>) -> Option<f64> {
        let shared_bps = self.flows_bps.get(self.shared?).copied()?;
        shared_bps.filter(|&bps| metric::carries(bps, delivered_bps))
    }
}

impl CaptureAnalysis {
    /// What the clock of the capture counts in, in ns, as far as distances between packets and ACKs of its flows tell
    /// ([`tick_ns`](metric::tick_ns)). `None` where there are fewer than [`STEPS_MIN`](metric::STEPS_MIN) of them, or
    /// none is 0.
    #[must_use]
    pub fn shown_tick_ns(&self) -> Option<u32> {
        let steps = || {
            let spacings = self.flows().map(|flow| flow.record.spacing());
            spacings.flat_map(Spacing::into_steps)
        };
        let is_enough = steps().nth(metric::STEPS_MIN - 1).is_some();
        is_enough.then(|| metric::tick_ns(steps())).flatten()
    }
}

/// Leaves out what is slower than what all flows between the same two hosts, this way, were delivered for a second
/// (METRICS.md R7): of many flows none may have two packets that follow each other.
fn leave_out_slower(flows: &[Flow<'_>], bin_ns: i64, links: &mut [Option<Link>]) {
    let mut between: HashMap<(IpAddr, IpAddr), (Vec<usize>, bool)> = HashMap::new();
    for (place, (flow, link)) in flows.iter().zip(&*links).enumerate() {
        let (places, any_shown) = between.entry(flow.hosts()).or_default();
        places.push(place);
        *any_shown |= link.is_some();
    }
    for (places, any_shown) in between.into_values() {
        if places.len() > 1 && any_shown {
            let deliveries = places
                .iter()
                .map(|&place| flows[place].record.series().bins().deliveries());
            let delivered_bps = observe::delivery_bps_max(deliveries, bin_ns);
            for place in places {
                links[place] = links[place].filter(|link| metric::carries(link.bps, delivered_bps));
            }
        }
    }
}

/// Leaves out what ACKs alone tell of a link where their way was that of data as well: these come between them, and what
/// waits behind one comes in a burst. That is where data from the one host to the other show a link that is slower, and
/// what was delivered the other way would have passed it.
fn leave_out_bursts(flows: &[Flow<'_>], bin_ns: i64, links: &mut [Option<Link>]) {
    let mut by_data: HashMap<(IpAddr, IpAddr), f64> = HashMap::new();
    for (flow, link) in flows.iter().zip(&*links) {
        if let Some(link) = link.filter(|link| link.is_upstream) {
            let bps = by_data.entry(flow.hosts()).or_insert(link.bps);
            *bps = bps.max(link.bps);
        }
    }
    for (flow, link) in flows.iter().zip(links) {
        let (src, dst) = flow.hosts();
        if let Some(shown) = link.filter(|link| !link.is_upstream)
            && let Some(&bps) = by_data.get(&(dst, src))
            && shown.bps > QUICKER_TIMES * bps
            && flow
                .delivered_bps_max(bin_ns)
                .is_none_or(|delivered| delivered < bps)
        {
            *link = None;
        }
    }
}

/// The flow that shows the link which most bytes of one way passed, by its place. What others of that way show is left
/// out where it is a part of that.
fn leave_out_parts(
    flows: &[Flow<'_>],
    main_way: &[bool],
    goes_main_way: bool,
    flows_bps: &mut [Option<f64>],
) -> Option<usize> {
    let goes = |place: usize| main_way.get(place) == Some(&true);
    let of_way = || (0..flows.len()).filter(|&place| goes(place) == goes_main_way);
    let (shown, places): (Vec<(f64, u64)>, Vec<usize>) = of_way()
        .filter_map(|place| Some(((flows_bps[place]?, flows[place].payload_bytes()), place)))
        .unzip();
    let shared = places[metric::shared_link(&shown)?];
    let link_bps = flows_bps[shared]?;
    for place in of_way() {
        flows_bps[place] = flows_bps[place].filter(|&bps| !metric::is_interleaved(bps, link_bps));
    }
    Some(shared)
}

/// What ACKs show is left out where it is so many times what data show the other way.
const QUICKER_TIMES: f64 = 1.25;

/// On which side of a link a capture was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkSide {
    /// Nothing tells.
    #[default]
    Unknown,
    /// Packets had still to pass it.
    Before,
    /// Packets had passed it: round-trip times seen there lack the queue in front of it.
    Behind,
}

impl LinkSide {
    /// The side of a link, that may show as one of these rates, on which most of the payload of these flows was captured
    /// (METRICS.md R8): behind it where their data packets come at its pace or slower, before it where ACKs come at its
    /// pace, or data packets quicker. `bin_ns` is [that of the series](CaptureAnalysis::bin_ns).
    #[must_use]
    pub fn of<'a>(
        flows: impl IntoIterator<Item = &'a Flow<'a>>,
        bin_ns: i64,
        rates_bps: &RangeInclusive<f64>,
    ) -> Self {
        let (mut all, mut before, mut behind) = (0, 0, 0);
        // What is of UDP shows no link.
        for flow in flows.into_iter().filter_map(Flow::tcp) {
            let payload_bytes = flow.payload_bytes();
            all += payload_bytes;
            if let Some(link) = flow.link(bin_ns) {
                if link.is_upstream && link.bps <= *rates_bps.end() {
                    behind += payload_bytes;
                } else if link.is_upstream || rates_bps.contains(&link.bps) {
                    before += payload_bytes;
                }
            }
        }
        if 2 * behind > all {
            Self::Behind
        } else if 2 * before > all {
            Self::Before
        } else {
            Self::Unknown
        }
    }
}

/// Whether the capture was taken behind whatever link it shows, judged by most of the payload of these flows (METRICS.md
/// R8). `bin_ns` is [that of the series](CaptureAnalysis::bin_ns).
#[must_use]
pub fn is_behind_link<'a>(flows: impl IntoIterator<Item = &'a Flow<'a>>, bin_ns: i64) -> bool {
    LinkSide::of(flows, bin_ns, &(0.0..=f64::INFINITY)) == LinkSide::Behind
}

impl Flow<'_> {
    /// What it was delivered for a second (METRICS.md R7); `bin_ns` is that of the series.
    fn delivered_bps_max(&self, bin_ns: i64) -> Option<f64> {
        observe::delivery_bps_max([self.record.series().bins().deliveries()], bin_ns)
    }

    /// The narrowest link as this flow alone shows it (METRICS.md R8); `bin_ns` is
    /// [that of the series](CaptureAnalysis::bin_ns).
    #[must_use]
    pub fn link(&self, bin_ns: i64) -> Option<Link> {
        let spacing = self.record.spacing();
        // Most flows are too short to show anything.
        if spacing.data().len().max(spacing.acks().len()) < metric::STEPS_MIN {
            return None;
        }
        let summary = self.summary();
        if summary.data_packets == 0 {
            return None;
        }
        let in_frames = summary.incidents().super_segments > 0;
        let headers = summary.ip_bytes.saturating_sub(summary.payload_bytes);
        let mean = summary.payload_bytes as f64 / summary.data_packets as f64;
        let handshake = self.connection().handshake();
        let mss_of = |dir| handshake.opening(dir)?.options.mss.map(NonZeroU16::get);
        let mss = mss_of(self.dir().reversed());
        Dispersion {
            data: if in_frames { &[] } else { spacing.data() },
            acks: spacing.acks(),
            header_bytes: headers as f64 / summary.packets as f64,
            packet_bytes: mss.map_or(mean, |mss| mean.min(f64::from(mss))).max(1.0),
            full_bytes: metric::full_bytes(mss, mss_of(self.dir())),
            delivered_bps: self.delivered_bps_max(bin_ns),
            clock_step_ns: self.within.clock_step_ns,
        }
        .link()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::{Analysis, Config, counts_towards_capacity};

    #[test]
    fn flows_of_which_no_way_is_told_do_not_go_the_main_way() {
        let config = Config::default();
        let analysis = Analysis::of(["testdata/captures/two-flows-cubic-bbr.pcap.zst"], &config);
        let capture = &analysis.captures[0];
        let flows: Vec<Flow<'_>> = capture.flows().collect();
        let none = vec![false; flows.len()];
        let rates = |main_way: &[bool]| LinkRates::of(&flows, main_way, config.bin_ns);
        assert!(rates(capture.main_way()).shared.is_some());
        assert_eq!(rates(&[]), rates(&none));
        assert_eq!(rates(&[]).shared, None);
        assert_eq!(counts_towards_capacity(&flows, &[]), none);
        // What is told of more flows than there are is of no account.
        let more = [capture.main_way(), &[true; 9]].concat();
        assert_eq!(rates(&more), rates(capture.main_way()));
        assert_eq!(
            counts_towards_capacity(&flows, &more),
            counts_towards_capacity(&flows, capture.main_way())
        );
    }
}

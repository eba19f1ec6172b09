//! The flows of a connection after its end, as far as their numbers are unpacked.

use super::{ConnectionRecord, FlowExtras, after};
use crate::event::Direction;
use crate::observe::dispersion::Spacing;
use crate::observe::payload_curve::PayloadCurve;
use crate::observe::quantiles::{DelayDistribution, DelayStats};
use crate::observe::segment_rows::SegmentRows;
use crate::observe::series::Series;
use crate::observe::summary::{DirectionSummary, Incidents, Outline, Span};
use crate::observe::time_sequence::TimeSequence;
use crate::time::CaptureTime;
use crate::track::HalfState;

/// One direction of a connection that carried payload: a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowRecord<'a> {
    /// Its connection.
    pub connection: &'a ConnectionRecord,
    /// Which direction.
    pub dir: Direction,
    /// Where in the connection's bytes it begins.
    pub(super) place: u32,
    pub(super) series: Series<'a>,
}

impl<'a> FlowRecord<'a> {
    /// Counts and distributions. Unpacks about a hundred numbers with each call: keep the result.
    #[must_use]
    pub fn summary(self) -> DirectionSummary {
        self.outlined().summary()
    }

    /// Sequence state at the end.
    #[must_use]
    pub fn state(self) -> HalfState {
        self.outline().state
    }

    /// Payload of all its packets, in bytes (METRICS.md C3).
    #[must_use]
    pub fn payload_bytes(self) -> u64 {
        Outline::payload_of(self.bytes())
    }

    /// What was out of the ordinary: of most flows nothing, which takes no more than a look.
    #[must_use]
    pub fn incidents(self) -> Incidents {
        self.outlined().incidents()
    }

    /// First and last packet with payload.
    #[must_use]
    pub fn data_span(self) -> Option<Span> {
        Outline::data_span_of(self.start(), self.bytes())
    }

    /// Over time.
    #[must_use]
    pub fn series(self) -> Series<'a> {
        self.series
    }

    /// How far apart packets and ACKs are.
    #[must_use]
    pub fn spacing(self) -> Spacing {
        // Of most flows there is none.
        if !Outline::has_steps_of(self.bytes()) {
            return Spacing::default();
        }
        self.outlined().spacing()
    }

    /// Payload over time, for pairs.
    #[must_use]
    pub fn curve(self) -> &'a PayloadCurve {
        static NONE: PayloadCurve = PayloadCurve::NONE;
        self.extras().map_or(&NONE, |extras| &extras.curve)
    }

    /// The stream over time, of the flow with the most payload among those of one recorder.
    #[must_use]
    pub fn time_sequence(self) -> Option<&'a TimeSequence> {
        self.extras()?.time_sequence.as_deref()
    }

    /// Time between consecutive data packets (METRICS.md I2), where it is wanted.
    #[must_use]
    pub fn gaps(self) -> Option<&'a DelayDistribution> {
        self.extras()?.gaps.as_deref()
    }

    /// Rows of `--segments`, where they are wanted.
    #[must_use]
    pub fn segments(self) -> &'a SegmentRows {
        static NONE: SegmentRows = SegmentRows::NONE;
        self.extras().map_or(&NONE, |extras| &extras.segments)
    }

    /// Memory of what can be given up, in bytes.
    pub(in crate::observe) fn detail_bytes(self) -> usize {
        self.series().packed.len() + self.segments().memory_bytes()
    }

    fn extras(self) -> Option<&'a FlowExtras> {
        self.connection.extras_of(self.dir)
    }

    /// What rates are made of, for who wants several of these.
    #[must_use]
    pub fn outline(self) -> Outline {
        self.outlined().outline
    }

    /// What rates are made of, and where the other numbers are, for who wants some of these, too.
    #[must_use]
    pub fn outlined(self) -> OutlinedFlow<'a> {
        let (start, mut rest) = (self.start(), self.bytes());
        OutlinedFlow {
            outline: Outline::take(start, &mut rest),
            start,
            rest,
        }
    }

    /// When its connection began.
    fn start(self) -> CaptureTime {
        self.connection.identity.first_at
    }

    fn bytes(self) -> &'a [u8] {
        after(&self.connection.packed, self.place as usize)
    }
}

/// A flow of which what rates are made of is unpacked, and the rest is not.
#[derive(Clone, Copy, Debug)]
pub struct OutlinedFlow<'a> {
    /// What rates are made of.
    pub outline: Outline,
    /// When its connection began.
    start: CaptureTime,
    /// What comes behind the outline.
    rest: &'a [u8],
}

impl OutlinedFlow<'_> {
    /// Counts and distributions. Unpacks some fifty numbers with each call: keep the result.
    #[must_use]
    pub fn summary(&self) -> DirectionSummary {
        self.take_rest().0
    }

    /// Round-trip times without their distribution (METRICS.md R2).
    #[must_use]
    pub fn rtt_stats(&self) -> DelayStats {
        DirectionSummary::rtt_stats_behind(self.rest)
    }

    /// What was out of the ordinary: of most flows nothing, which takes no more than a look.
    #[must_use]
    pub fn incidents(&self) -> Incidents {
        if !self.outline.has_incidents() {
            return Incidents::default();
        }
        self.summary().into_incidents()
    }

    /// How far apart packets and ACKs are: of most flows it is not known.
    #[must_use]
    pub fn spacing(&self) -> Spacing {
        if !self.outline.has_steps {
            return Spacing::default();
        }
        self.take_rest().1
    }

    fn take_rest(&self) -> (DirectionSummary, Spacing) {
        DirectionSummary::take_behind(&self.outline, self.start, &mut { self.rest })
    }
}

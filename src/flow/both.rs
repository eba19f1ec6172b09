//! Two observers of the same connections, such as a [`Recorder`](crate::observe::Recorder) and one of one's own.

use super::{ConnectionIdentity, Observer};
use crate::event::{
    Acked, Amendment, ClassifiedSegment, DataArrival, Direction, FlowSink, LossPlace,
    PacketArrival, Recovery, RttSample, Signal, StreamPart,
};
use crate::time::CaptureTime;
use crate::track::Connection;

/// Each hears what it would hear alone, the first one first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    type Sink = (A::Sink, B::Sink);
    const WAITS: bool = A::WAITS && B::WAITS;

    fn memory_bytes(flow: &Self::Sink) -> usize {
        A::memory_bytes(&flow.0) + B::memory_bytes(&flow.1)
    }

    fn is_apart(&mut self, before: CaptureTime, at: CaptureTime) -> bool {
        let (a, b) = (self.0.is_apart(before, at), self.1.is_apart(before, at));
        a || b
    }

    fn expected_bytes(parts: usize, segments: usize) -> (usize, usize) {
        let (a, b) = (
            A::expected_bytes(parts, segments),
            B::expected_bytes(parts, segments),
        );
        (a.0 + b.0, a.1 + b.1)
    }

    fn give_up(flow: &mut Self::Sink) {
        A::give_up(&mut flow.0);
        B::give_up(&mut flow.1);
    }

    fn open(&mut self, identity: &ConnectionIdentity) -> Self::Sink {
        (self.0.open(identity), self.1.open(identity))
    }

    fn open_ended(&mut self, identity: &ConnectionIdentity, payload_bytes: u64) -> Self::Sink {
        (
            self.0.open_ended(identity, payload_bytes),
            self.1.open_ended(identity, payload_bytes),
        )
    }

    fn close(
        &mut self,
        identity: &ConnectionIdentity,
        connection: &Connection,
        (a, b): Self::Sink,
        cut_by_limit: bool,
    ) {
        self.0.close(identity, connection, a, cut_by_limit);
        self.1.close(identity, connection, b, cut_by_limit);
    }
}

/// Makes, by a macro, methods for all events but [`segment`](FlowSink::segment), which not every sink wants.
macro_rules! of_each_event {
    ($make:ident) => {
        $make! {
            packet(packet: &PacketArrival);
            data(data: &DataArrival);
            amended(amendment: &Amendment);
            lost(place: LossPlace, packets: i32);
            rtt(sample: &RttSample);
            timestamp_rtt(at: CaptureTime, rtt_ns: i64);
            acked(acked: &Acked);
            delivered(at: CaptureTime, bytes: u64);
            acked_at_once(acked: &Acked);
            acked_less(at: CaptureTime, bytes: u64);
            window(at: CaptureTime, end: i64);
            sacked(part: &StreamPart);
            hole(part: &StreamPart);
            recovery(recovery: &Recovery);
            signal(at: CaptureTime, signal: Signal);
        }
    };
}

/// Tells both of an event.
macro_rules! tell_both {
    ($($event:ident($($what:ident: $kind:ty),+);)+) => {
        $(fn $event(&mut self, dir: Direction, $($what: $kind),+) {
            self.0.$event(dir, $($what),+);
            self.1.$event(dir, $($what),+);
        })+
    };
}

/// Each hears what it would hear alone, the first one first.
impl<A: FlowSink, B: FlowSink> FlowSink for (A, B) {
    const SEGMENTS: bool = A::SEGMENTS || B::SEGMENTS;

    fn expect_events(&self) {
        self.0.expect_events();
        self.1.expect_events();
    }

    fn expect_details(&self) {
        self.0.expect_details();
        self.1.expect_details();
    }

    of_each_event!(tell_both);

    fn segment(&mut self, dir: Direction, segment: &ClassifiedSegment) {
        if A::SEGMENTS {
            self.0.segment(dir, segment);
        }
        if B::SEGMENTS {
            self.1.segment(dir, segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::analyze::Engine;
    use crate::capture::{CaptureReader, ReadOptions, Window};
    use crate::observe::{RecordConfig, Recorder};

    /// All that is told of a connection, `SEGMENTS` with the final classes, in words.
    #[derive(Default)]
    struct Told<const SEGMENTS: bool>(Vec<String>);

    macro_rules! write_down {
        ($($event:ident($($what:ident: $kind:ty),+);)+) => {
            $(fn $event(&mut self, dir: Direction, $($what: $kind),+) {
                let what = format!(concat!(stringify!($event), " {:?} {:?}"), dir, ($($what),+));
                self.0.push(what);
            })+
        };
    }

    impl<const SEGMENTS: bool> FlowSink for Told<SEGMENTS> {
        const SEGMENTS: bool = SEGMENTS;
        of_each_event!(write_down);
        write_down! {
            segment(segment: &ClassifiedSegment);
        }
    }

    /// What was told of all connections that have ended.
    #[derive(Default)]
    struct Listener<const SEGMENTS: bool>(Vec<String>);

    impl<const SEGMENTS: bool> Observer for Listener<SEGMENTS> {
        type Sink = Told<SEGMENTS>;

        fn open(&mut self, identity: &ConnectionIdentity) -> Told<SEGMENTS> {
            Told(vec![format!("{identity:?}")])
        }

        fn close(
            &mut self,
            _: &ConnectionIdentity,
            _: &Connection,
            told: Told<SEGMENTS>,
            cut: bool,
        ) {
            self.0.extend(told.0);
            self.0.push(format!("closed, cut: {cut}"));
        }
    }

    /// What an observer has heard of two downloads of which packets were lost.
    fn heard<O: Observer>(observer: O) -> O {
        let capture = PathBuf::from("testdata/captures/two-flows-cubic-bbr.pcap.zst");
        let mut reader =
            CaptureReader::open(vec![capture.into()], &ReadOptions::default()).unwrap();
        let mut window = Window::new();
        let mut engine = Engine::new(observer);
        while reader.read_window(&mut window).unwrap() {
            for packet in window.all() {
                engine.push(packet.at, packet.link, packet.bytes, packet.original_len);
            }
        }
        engine.finish().0
    }

    fn recorder() -> Recorder<true> {
        Recorder::new(RecordConfig::default())
    }

    #[test]
    fn each_of_two_observers_hears_what_it_would_hear_alone() {
        let with_segments = heard(Listener::<true>::default()).0;
        let without = heard(Listener::<false>::default()).0;
        let of_segments = |told: &&String| told.starts_with("segment ");
        let segments = with_segments.iter().filter(of_segments).count();
        assert!(segments > 1000, "{segments}");
        assert_eq!(with_segments.len(), without.len() + segments);
        let recorded = format!("{:?}", heard(recorder()).take_ended());
        let ((mut record, left), right) = heard((
            (recorder(), Listener::<false>::default()),
            Listener::<true>::default(),
        ));
        assert_eq!(format!("{:?}", record.take_ended()), recorded);
        assert_eq!(left.0, without);
        assert_eq!(right.0, with_segments);
        // Of two that both wait, each is told late of connections as alone.
        let (mut one, mut other) = heard((recorder(), recorder()));
        assert_eq!(format!("{:?}", one.take_ended()), recorded);
        assert_eq!(format!("{:?}", other.take_ended()), recorded);
    }
}

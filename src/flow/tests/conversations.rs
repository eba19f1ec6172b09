//! Datagram by datagram: which are of one conversation, and when it ends.

use super::*;
use crate::decode::{Datagram, Transport};
use crate::flow::{CONVERSATION_SILENCE_NS, ConversationTable};

const SECOND_NS: i64 = 1_000_000_000;

/// One of some clients and a server; which way, when, and how much.
fn datagram(ordinal: u64, client: u16, back: bool, seconds: i64, payload_len: u32) -> Datagram {
    let server = Endpoint::v4([10, 0, 0, 9], 443);
    let client = Endpoint::v4([10, 0, 0, 1], client);
    let (src, dst) = if back {
        (server, client)
    } else {
        (client, server)
    };
    Datagram {
        at: CaptureTime::from_ns(1_700_000_000 * SECOND_NS + seconds * SECOND_NS),
        ordinal,
        src,
        dst,
        payload_len,
        ip_len: 28 + payload_len,
        ip_packets: 1,
        ecn: crate::decode::Ecn::NotEct,
        length_from_frame: false,
        quic: None,
    }
}

fn conversations(datagrams: &[Datagram], most: usize) -> Vec<End> {
    let mut table = ConversationTable::new(Ended::<true>::default(), most);
    for datagram in datagrams {
        table.on_datagram(datagram);
        assert!(table.len() <= most);
    }
    in_order(table.finish())
}

/// Whether so many that are told late are told, and in their order.
#[test]
fn both_directions_are_of_one_conversation() {
    let back = [false, true, true, false, true, false];
    for len in 1..=back.len() {
        let datagrams: Vec<Datagram> = (0..)
            .zip(&back[..len])
            .map(|(ordinal, &back)| datagram(ordinal, 1, back, ordinal as i64, 100))
            .collect();
        let told = (0..).zip(&back[..len]).map(|(ordinal, &back)| {
            let dir = if back {
                Direction::Reverse
            } else {
                Direction::Forward
            };
            (dir, ordinal)
        });
        assert_eq!(conversations(&datagrams, 10), [(0, told.collect(), false)]);
    }
}

#[test]
fn other_ports_are_another_conversation() {
    let datagrams = [
        datagram(0, 1, false, 0, 100),
        datagram(1, 2, false, 0, 100),
        datagram(2, 1, true, 1, 100),
    ];
    let dirs = [Direction::Forward, Direction::Reverse];
    assert_eq!(
        conversations(&datagrams, 10),
        [
            (0, vec![(dirs[0], 0), (dirs[1], 2)], false),
            (1, vec![(dirs[0], 1)], false)
        ]
    );
}

#[test]
fn a_silence_ends_a_conversation() {
    let silence = CONVERSATION_SILENCE_NS / SECOND_NS;
    let gap = |seconds: i64| {
        let ends = conversations(
            &[
                datagram(0, 1, false, 0, 100),
                datagram(1, 1, true, seconds, 100),
            ],
            10,
        );
        ends.len()
    };
    assert_eq!(gap(silence - 1), 1);
    assert_eq!(gap(silence), 2);
    // A clock that was set is no silence.
    assert_eq!(gap(40 * 86_400), 1);
    // Nor does a datagram that comes late, by its time, make one longer.
    let late = [(0, 0), (1, silence - 100), (2, 5), (3, 2 * silence - 101)];
    let late = late.map(|(ordinal, seconds)| datagram(ordinal, 1, false, seconds, 100));
    assert_eq!(conversations(&late, 10).len(), 1);
    // The second begins with who speaks then.
    let ends = conversations(
        &[
            datagram(0, 1, false, 0, 100),
            datagram(1, 1, true, silence, 100),
        ],
        10,
    );
    assert_eq!(ends[1], (1, vec![(Direction::Forward, 1)], false));
}

/// Others' datagrams end one that is silent, so that its room is free, and no later than it ends by itself.
#[test]
fn what_is_silent_is_put_away_as_time_goes_on() {
    let mut table = ConversationTable::new(Ended::<true>::default(), 10);
    table.on_datagram(&datagram(0, 1, false, 0, 100));
    for (ordinal, seconds) in (1..).zip((0..400).step_by(20)) {
        table.on_datagram(&datagram(ordinal, 2, false, seconds, 100));
        assert_eq!(table.len(), if seconds < 360 { 2 } else { 1 }, "{seconds}");
    }
    // One with an absurd time ends none.
    let mut table = ConversationTable::new(Ended::<true>::default(), 10);
    table.on_datagram(&datagram(0, 1, false, 0, 100));
    table.on_datagram(&datagram(1, 2, false, 86_400, 100));
    table.on_datagram(&datagram(2, 1, false, 1, 100));
    assert_eq!(in_order(table.finish()).len(), 2);
}

#[test]
fn one_more_than_the_limit_puts_away_a_quarter() {
    // The first has no payload, and was silent for less long than most; the second speaks again.
    let mut datagrams = vec![datagram(0, 0, false, 8, 0)];
    datagrams
        .extend((1..8).map(|client| datagram(client, client as u16, false, client as i64, 100)));
    datagrams.push(datagram(8, 1, true, 9, 100));
    datagrams.push(datagram(9, 100, false, 10, 100));
    // Goes on as another.
    datagrams.push(datagram(10, 2, false, 11, 100));
    let ends = conversations(&datagrams, 8);
    let cut: Vec<u64> = ends.iter().filter(|end| end.2).map(|end| end.0).collect();
    assert_eq!(cut, [0, 2, 3]);
    assert_eq!(ends.len(), 10);
}

/// A flood of questions that are never repeated: no more are held than may be, each in little.
#[test]
fn many_small_ones_take_little() {
    const MOST: usize = 1000;
    let mut table = ConversationTable::new(Ended::<true>::default(), MOST);
    for number in 0..60_000_u64 {
        let (client, at) = (number as u16, number as i64 / 30_000);
        table.on_datagram(&datagram(2 * number, client, false, at, 40));
        table.on_datagram(&datagram(2 * number + 1, client, true, at, 200));
        assert!(table.len() <= MOST);
        assert!(
            table.memory_bytes() < MOST * 1000,
            "{}",
            table.memory_bytes()
        );
    }
    let (ended, facts) = table.finish();
    assert_eq!(ended.0.len(), 60_000);
    assert!(facts.cut_by_limit >= 59_000);
}

#[test]
fn a_conversation_says_that_it_is_one() {
    let identity = ConnectionIdentity::of_datagram(&datagram(3, 1, true, 5, 100));
    assert_eq!(identity.transport, Transport::Udp);
    assert_eq!(identity.opener, Endpoint::v4([10, 0, 0, 9], 443));
    assert_eq!(identity.first_ordinal, 3);
}

/// Those that have ended, and of which details were given up when a limit ended them: they hold more than is kept.
#[derive(Default)]
struct Heavy(Vec<(u64, bool)>);

#[derive(Default)]
struct Weight {
    packets: usize,
    gave_up: bool,
}

/// What a longer conversation holds besides its sink, in bytes.
const HELD: usize = 1000;
/// What is kept of one with payload, in bytes: without what can be given up, and that.
const KEPT: (usize, usize) = (30, 20);

impl FlowSink for Weight {
    fn packet(&mut self, _: Direction, _: &PacketArrival) {
        self.packets += 1;
    }
}

impl Observer for Heavy {
    type Sink = Weight;

    fn memory_bytes(flow: &Weight) -> usize {
        if flow.gave_up { HELD / 2 } else { HELD }
    }

    fn is_apart(&mut self, before: CaptureTime, at: CaptureTime) -> bool {
        before != at
    }

    fn expected_bytes(parts: usize, _segments: usize) -> (usize, usize) {
        (KEPT.0, KEPT.1 * parts)
    }

    fn give_up(flow: &mut Weight) {
        flow.gave_up = true;
    }

    fn open(&mut self, _: &ConnectionIdentity) -> Weight {
        Weight::default()
    }

    fn close(&mut self, identity: &ConnectionIdentity, _: &Connection, flow: Weight, cut: bool) {
        assert!(flow.packets > 0);
        self.0.push((identity.first_ordinal, cut && flow.gave_up));
    }
}

/// Of three conversations one has grown; of one a datagram comes late; one is a question without payload.
fn heavy() -> ConversationTable<Heavy> {
    let mut table = ConversationTable::new(Heavy::default(), 10);
    for ordinal in 0..5 {
        table.on_datagram(&datagram(ordinal, 1, false, 2 * ordinal as i64, 100));
    }
    table.on_datagram(&datagram(5, 2, false, 1, 50));
    table.on_datagram(&datagram(6, 2, false, 0, 10));
    table.on_datagram(&datagram(7, 2, true, 2, 40));
    table.on_datagram(&datagram(8, 3, false, 3, 0));
    table
}

#[test]
fn the_young_tell_of_their_payload_and_of_what_can_be_given_up() {
    let mut table = heavy();
    assert_eq!(table.sinks_mut().count(), 1);
    assert_eq!(table.young_bytes().collect::<Vec<_>>(), [100, 0]);
    let at = |seconds: i64| CaptureTime::from_ns((1_700_000_000 + seconds) * SECOND_NS);
    let payloads = table.young_payloads(1..=100);
    let payloads: Vec<_> = payloads
        .map(|one| (one.bytes, one.first_at, one.last_at))
        .collect();
    assert_eq!(payloads, [(60, at(1), at(1)), (40, at(2), at(2))]);
    assert_eq!(table.young_payloads(0..=99).count(), 0);
    // In three parts; nothing is kept of what has no payload.
    let details = |table: &ConversationTable<Heavy>| table.young_details().collect::<Vec<_>>();
    assert_eq!(details(&table), [(100, 3 * KEPT.1), (0, 0)]);
    let before = table.memory_bytes();
    table.give_up(99, |flow| flow.gave_up = true);
    assert_eq!(details(&table), [(100, 3 * KEPT.1), (0, 0)]);
    assert_eq!(before - table.memory_bytes(), HELD / 2);
    table.give_up(100, |_| {});
    assert_eq!(details(&table), [(100, 0), (0, 0)]);
    // It is said when it has ended.
    table.put_away_silent(0);
    let (told, facts) = table.finish();
    let mut told = told.0;
    told.sort_unstable();
    assert_eq!(
        (told, facts.cut_by_limit),
        (vec![(0, true), (5, true), (8, true)], 3)
    );
}

#[test]
fn what_holds_more_than_its_record_is_put_away_a_quarter_at_a_time() {
    let mut table = heavy();
    let excess = table.excess_bytes();
    let sink = size_of::<Weight>();
    // Bins of a longer one become those of its record.
    let young = 4 * size_of::<(Direction, PacketArrival)>();
    let expected = (sink.saturating_sub(KEPT.0)) + (young - KEPT.0) + young;
    assert_eq!(excess, expected);
    // Of those with more than that the one without payload goes first.
    let mut left = vec![];
    while table.excess_bytes() > 0 {
        table.put_away_excess();
        left.push(table.len());
    }
    // The longer one goes on, as nothing would be free without it.
    assert_eq!(left, [2, 1]);
    assert_eq!(table.sinks_mut().count(), 1);
    let held = table.memory_bytes();
    table.put_away_excess();
    assert_eq!((table.len(), table.memory_bytes()), (1, held));
}

#[test]
fn those_that_are_silent_are_put_away_as_by_a_limit() {
    let mut table = heavy();
    // The latest datagram is of 8 s.
    table.put_away_silent(6 * SECOND_NS);
    assert_eq!((table.len(), table.facts().cut_by_limit), (2, 1));
    table.put_away_silent(5 * SECOND_NS);
    assert_eq!((table.len(), table.facts().cut_by_limit), (1, 2));
}

use super::*;
use crate::observe::dispersion::LiveSpacing;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), 0..100_000_u64, any::<u64>()]
}

fn instant() -> impl Strategy<Value = CaptureTime> {
    let ns = prop_oneof![
        0..1_000_000_000_i64,
        Just(i64::MIN),
        Just(i64::MAX),
        any::<i64>()
    ];
    ns.prop_map(CaptureTime::from_ns)
}

fn span() -> impl Strategy<Value = Option<Span>> {
    let span = (instant(), instant()).prop_map(|(first, last)| Span { first, last });
    proptest::option::of(span)
}

fn state() -> impl Strategy<Value = HalfState> {
    let numbers = prop::array::uniform7(number());
    (numbers, any::<[bool; 2]>()).prop_map(|(numbers, [acked, unseen])| HalfState {
        acked_bytes: acked.then_some(numbers[0]),
        unique_bytes: numbers[1],
        unseen_bytes: unseen.then_some(numbers[2]),
        skipped_packets: numbers[3],
        application_limited_ns: numbers[4].cast_signed(),
        receiver_limited_ns: numbers[5].cast_signed(),
        strays: numbers[6],
    })
}

fn summary() -> impl Strategy<Value = DirectionSummary> {
    let numbers = prop::array::uniform7(number());
    let incidents = proptest::option::of(prop::collection::vec(number(), INCIDENTS));
    let spans = (span(), span(), proptest::option::of(instant()));
    let delays = prop::collection::vec(any::<i64>(), 0..20);
    (numbers, incidents, spans, delays).prop_map(
        |(numbers, incidents, (span, data_span, last_new_ack_at), delays)| {
            let mut rtt = DelayDistribution::default();
            let mut rtt_exact = DelayStats::default();
            for &delay in &delays {
                rtt.add(delay);
                rtt_exact.add(delay / 2);
            }
            let numbers_of = |list: Vec<u64>| std::array::from_fn(|place| list[place]);
            let incidents = incidents
                .map(numbers_of)
                .filter(|numbers| *numbers != [0; INCIDENTS]);
            DirectionSummary {
                packets: numbers[0],
                data_packets: numbers[1],
                ip_bytes: numbers[2],
                payload_bytes: numbers[3],
                span,
                data_span,
                last_new_ack_at,
                rtt_ts: rtt_exact.clone(),
                rtt,
                rtt_exact,
                in_flight_bytes_max: numbers[4],
                in_flight_bytes_sum: numbers[5],
                in_flight_samples: numbers[6],
                incidents: incidents.map(Incidents::of_numbers).map(Box::new),
            }
        },
    )
}

proptest! {
    #[test]
    fn flows_come_back_as_they_were(
        summary in summary(),
        state in state(),
        start in instant(),
    ) {
        let mut bytes = Vec::new();
        summary.put(state, &Spacing::default(), start, &mut bytes);
        let mut rest = &bytes[..];
        let outline = Outline::take(start, &mut rest);
        prop_assert_eq!(Outline::payload_of(&bytes), summary.payload_bytes);
        prop_assert_eq!(outline.state, state);
        prop_assert_eq!(outline.payload_bytes, summary.payload_bytes);
        prop_assert_eq!(outline.ip_bytes, summary.ip_bytes);
        prop_assert_eq!(outline.data_span, summary.data_span);
        prop_assert_eq!(Outline::data_span_of(start, &bytes), summary.data_span);
        prop_assert!(!Outline::has_steps_of(&bytes));
        let (mut stepped, mut live) = (Vec::new(), LiveSpacing::default());
        for packet in 0..100 {
            live.on_data(CaptureTime::from_ns(packet * 10_000), 1448, true);
        }
        summary.put(state, &live.take_spacing(), start, &mut stepped);
        prop_assert!(Outline::has_steps_of(&stepped));
        prop_assert_eq!(Outline::data_span_of(start, &stepped), summary.data_span);
        prop_assert_eq!(outline.last_new_ack_at, summary.last_new_ack_at);
        let (again, _) = DirectionSummary::take_behind(&outline, start, &mut rest);
        prop_assert_eq!(again, summary);
        prop_assert!(rest.is_empty());
    }
}

#[test]
fn a_usual_flow_takes_a_third_of_its_room() {
    let at = |ms: i64| CaptureTime::from_ns(ms * 1_000_000);
    let mut summary = DirectionSummary {
        packets: 10,
        data_packets: 6,
        ip_bytes: 8_800,
        payload_bytes: 8_400,
        in_flight_bytes_max: 4_200,
        in_flight_bytes_sum: 16_800,
        in_flight_samples: 6,
        ..DirectionSummary::default()
    };
    let span = |first: i64, last: i64| {
        Some(Span {
            first: at(first),
            last: at(last),
        })
    };
    (summary.span, summary.data_span) = (span(0, 500), span(30, 460));
    summary.last_new_ack_at = Some(at(490));
    for delay in 0..6 {
        summary.rtt.add(30_000_000 + delay * 70_000);
    }
    let state = HalfState {
        acked_bytes: Some(8_400),
        unique_bytes: 8_400,
        unseen_bytes: Some(0),
        application_limited_ns: 300_000_000,
        ..HalfState::default()
    };
    let mut bytes = Vec::new();
    summary.put(state, &Spacing::default(), at(0), &mut bytes);
    let room = size_of::<DirectionSummary>() + size_of::<HalfState>();
    assert!(bytes.len() * 3 < room, "{} of {room}", bytes.len());
}

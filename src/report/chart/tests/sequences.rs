//! The time sequence.

use super::*;

#[test]
fn the_time_sequence_counts_its_marks() {
    with_scene(
        download(1, 0, 300, |number| number % 50 == 7),
        |scene, _| {
            let canvas = time_sequence::draw(scene).unwrap();
            let marked = texts(&canvas)
                .iter()
                .any(|text| text.starts_with("retransmission") && text.ends_with("(6)"));
            assert!(marked, "{:?}", texts(&canvas));
        },
    );
}

#[test]
fn repeats_behind_all_else_are_drawn_at_their_times() {
    // As in an outage: the last of three packets comes again after one second and after three.
    let mut packets = download(1, 0, 3, |_| false);
    for at_us in [1_000_000, 3_000_000] {
        packets.push(Packet {
            at_us,
            src: 1,
            dst: 200,
            seq: 2001,
            ack: 1,
            payload: 1000,
        });
    }
    with_scene(packets, |scene, _| {
        let canvas = time_sequence::draw(scene).unwrap();
        let marks = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Marker { at, .. } => Some(at.0.to_bits()),
            _ => None,
        });
        // Two places in time, and one in the legend.
        let places: std::collections::BTreeSet<u64> = marks.collect();
        assert_eq!(places.len(), 3);
    });
}

#[test]
fn data_before_the_first_ack_is_ahead_of_nothing_acknowledged() {
    // Taken with the SYNs: what is sent before any ACK of data is in both panels.
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testdata/captures/drop-one.pcap"
    );
    let config = Config {
        time_sequence: true,
        ..Config::default()
    };
    let analysis = Analysis::of([path], &config);
    let scenes = Scene::of(&analysis, &ChartOptions::default());
    let canvas = time_sequence::draw(&scenes[0]).unwrap();
    let bars = canvas.shapes.iter().filter(|shape| match shape {
        Shape::Rect { colour, .. } => *colour == time_sequence::DATA,
        _ => false,
    });
    let flow = scenes[0].flows[0].flow.record;
    let slots = flow.time_sequence().unwrap().slots();
    let with_data = slots.filter(|(_, slot)| slot.data().is_some()).count();
    // One more is in the legend.
    assert_eq!(bars.count(), 2 * with_data + 1);
}

#[test]
fn the_time_sequence_is_that_of_the_largest_flow() {
    let packets = [
        download(1, 0, 100, |_| false),
        download(2, 0, 150, |_| false),
        download(3, 0, 120, |_| false),
    ]
    .concat();
    with_scene(packets, |scene, _| {
        let canvas = time_sequence::draw(scene).unwrap();
        let named = texts(&canvas)
            .iter()
            .any(|text| text.starts_with("10.0.0.2 → 10.0.0.200, the largest flow"));
        assert!(named, "{:?}", texts(&canvas));
    });
}

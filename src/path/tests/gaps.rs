//! Captures that have a gap in the middle.

use super::*;

/// Packets of a flow that goes one way, 1 ms apart behind six at once: each but these takes 6 ms, of which it waits 5, as
/// the link is always busy.
/// `seen` says what the second point has of them.
fn steady(seen: impl Fn(u16) -> bool) -> [Vec<Packet>; 2] {
    let at = |n: u16| SECOND + i64::from(n) * MS;
    let first = (0..1000).map(|n| data(n, at(n.max(5))));
    let second = (0..1000)
        .filter(|&n| seen(n))
        .map(|n| data(n, at(n) + 6 * MS));
    [first.collect(), second.collect()]
}

/// Analyses points of which each is in one file or more.
fn of_parts(points: &[Vec<&[Packet]>]) -> PathAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let points = points.iter().enumerate().map(|(point, parts)| {
        let files = parts.iter().enumerate().map(|(part, packets)| {
            let path = folder.path().join(format!("{point}-{part}"));
            fs::write(&path, file(packets)).unwrap();
            path
        });
        Point::files(files.collect())
    });
    PathAnalysis::of(&points.collect::<Vec<_>>(), &PathConfig::default()).unwrap()
}

/// Packets of a hop that were dropped and that are undecided, forward.
fn counts(hop: &Hop) -> (u64, u64) {
    let flow = flow(hop, Heading::Forward);
    (flow.dropped_packets, flow.undecided_packets)
}

fn kinds(hop: &Hop, point: usize) -> Vec<GapKind> {
    hop.facts[point].gaps.iter().map(|gap| gap.why).collect()
}

#[test]
fn a_capture_that_missed_what_came_from_there_tells_no_drops() {
    let [first, second] = download(|packet| {
        let at = packet.at - SECOND;
        let missed = (100 * MS..300 * MS).contains(&at);
        let lost = !packet.back && packet.id == 105;
        (!missed && !lost).then_some(packet)
    });
    let hop = hop(&first, &second);
    for (heading, dropped) in [(Heading::Forward, 1), (Heading::Reverse, 0)] {
        let flow = flow(&hop, heading);
        assert_eq!(
            (flow.dropped_packets, flow.undecided_packets),
            (dropped, 20)
        );
        assert_eq!((flow.appeared_packets, flow.packets), (0, 20));
    }
    assert_eq!(kinds(&hop, 1), [GapKind::Missed]);
    assert_eq!(kinds(&hop, 0), []);
    assert_eq!(hop.quality(), ["capture_gap"]);
}

/// Half of the time is missing: what waits is told of the other half.
#[test]
fn what_was_seen_while_a_part_is_missing_is_undecided_and_that_time_does_not_count() {
    let lost = |n: u16| [100, 101, 900].contains(&n);
    let [first, whole] = steady(|n| !lost(n));
    let (head, tail) = (&whole[..298], &whole[798..]);
    let of = |after: Vec<&[Packet]>| of_parts(&[vec![&first], after]).hops.remove(0);
    let (all, cut) = (of(vec![&whole]), of(vec![tail, head]));
    assert_eq!(counts(&all), (3, 0));
    assert_eq!(counts(&cut), (3, 500));
    assert_eq!(kinds(&cut, 1), [GapKind::BetweenParts]);
    let mean = |hop: &Hop| hop.ways[0].packets_mean().unwrap();
    let (all_mean, cut_mean) = (mean(&all), mean(&cut));
    assert!(all_mean > 4.9, "{all_mean}");
    assert!((all_mean - cut_mean).abs() < 0.05, "{all_mean} {cut_mean}");
    let used = |hop: &Hop| hop.ways[0].utilisation(1040.0 * 8e3).unwrap();
    assert!(
        (used(&all) - used(&cut)).abs() < 0.02,
        "{} {}",
        used(&all),
        used(&cut)
    );
    // Of the only flow is all that waits, also what waited for as long as nobody saw.
    for hop in [&all, &cut] {
        let share = hop.ways[0].share(flow(hop, Heading::Forward));
        assert_eq!(share, Some(1.0));
    }
    let lasts_ns = cut.ways[0].duration_ns().unwrap();
    assert!((lasts_ns - 500 * MS).abs() <= MS, "{lasts_ns}");
    // The same where the capture of who sends has the gap.
    let [sent, got] = steady(|_| true);
    let hop = &of_parts(&[vec![&sent[..300], &sent[800..]], vec![&got]]).hops[0];
    assert_eq!(counts(hop), (0, 500));
    assert_eq!(flow(hop, Heading::Forward).appeared_packets, 0);
    let cut_mean = mean(hop);
    assert!((all_mean - cut_mean).abs() < 0.1, "{all_mean} {cut_mean}");
}

/// A packet is lost before the gap, so that what became of those behind it is told only when the captures are over, as
/// of what left during the gap: that takes its place in time all the same, whichever point is named first.
#[test]
fn the_way_back_is_told_as_the_way_forward_is() {
    let [mut sent, mut got] = steady(|n| n != 100);
    for n in (0..1000).step_by(10) {
        let at = SECOND + i64::from(n) * MS + 500 * US;
        got.push(ack(n, at));
        sent.push(ack(n, at + MS));
    }
    for point in [&mut sent, &mut got] {
        point.sort_by_key(|packet| packet.at);
    }
    let gap = SECOND + 300 * MS..SECOND + 800 * MS;
    let (head, tail): (Vec<_>, Vec<_>) = sent
        .into_iter()
        .filter(|packet| !gap.contains(&packet.at))
        .partition(|packet| packet.at < gap.start);
    let (sent, got) = (vec![&head[..], &tail], vec![&got[..]]);
    let [as_named, swapped] = [
        (Heading::Forward, [sent.clone(), got.clone()]),
        (Heading::Reverse, [got, sent]),
    ]
    .map(|(heading, points)| {
        let hop = &of_parts(&points).hops[0];
        let (flow, way) = (flow(hop, heading), &hop.ways[heading as usize]);
        let counts = (flow.dropped_packets, flow.undecided_packets);
        (counts, flow.first_ns, way.packets_mean(), way.bins.clone())
    });
    assert_eq!((as_named.0, as_named.1), ((1, 500), SECOND + 5 * MS));
    let mean = as_named.2.unwrap();
    assert!((mean - 5.0).abs() < 0.1, "{mean}");
    assert_eq!(as_named, swapped);
}

#[test]
fn in_one_file_it_may_have_been_the_path() {
    let [first, second] = steady(|n| !(300..800).contains(&n));
    let hop = hop(&first, &second);
    assert_eq!(counts(&hop), (500, 0));
    assert_eq!(kinds(&hop, 1), [GapKind::Open]);
    assert_eq!(hop.quality(), ["one_way"]);
}

#[test]
fn what_comes_out_further_on_passed_where_a_capture_has_a_gap() {
    let [first, second] = steady(|n| !(300..800).contains(&n));
    let third = first.iter().cloned();
    let third: Vec<Packet> = third
        .map(|packet| Packet {
            at: packet.at + 9 * MS,
            ..packet
        })
        .collect();
    let analysis = of_parts(&[vec![&first], vec![&second], vec![&third]]);
    for (hop, point) in analysis.hops.iter().zip([1, 0]) {
        assert_eq!(counts(hop), (0, 500), "hop from {}", hop.points[0]);
        assert_eq!(kinds(hop, point), [GapKind::Missed]);
    }
}

/// A burst finds the queue full when the capture goes on to its next file.
#[test]
fn the_usual_time_between_two_parts_hides_no_drops() {
    let [mut first, second] = steady(|_| true);
    first.extend((0..40).map(|n| data(2000 + n, SECOND + 499 * MS + 500 * US)));
    let hop = &of_parts(&[vec![&first], vec![&second[..494], &second[494..]]]).hops[0];
    assert_eq!(counts(hop), (40, 0));
    assert_eq!(kinds(hop, 1), []);
}

/// Who receives goes on to send while the path is down, and is seen to where that is.
#[test]
fn a_capture_that_sees_packets_that_are_dropped_has_no_gap() {
    let down = 100 * MS..900 * MS;
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..1000_u16 {
        let at = i64::from(n) * MS;
        points[0].push(data(n, SECOND + at));
        if !down.contains(&at) {
            points[1].push(data(n, SECOND + at + MS));
        }
        if n % 100 == 50 {
            points[1].push(ack(n, SECOND + at + MS));
            if !down.contains(&at) {
                points[0].push(ack(n, SECOND + at + 2 * MS));
            }
        }
    }
    let parts = |point: &Vec<Packet>, at: i64| -> [Vec<Packet>; 2] {
        let (one, other) = point
            .iter()
            .cloned()
            .partition(|packet| packet.at < SECOND + at);
        [one, other]
    };
    let [one, other] = parts(&points[1], 500 * MS);
    let hop = &of_parts(&[vec![&points[0]], vec![&one, &other]]).hops[0];
    assert_eq!(counts(hop), (800, 0));
    assert_eq!(kinds(hop, 1), []);
}

/// Of one of the points five records are written over, and one packet was dropped long before, which is the only drop.
#[test]
fn what_a_damaged_place_held_was_not_dropped() {
    let points = steady(|n| n != 200);
    for point in [1, 0] {
        let folder = tempfile::tempdir().unwrap();
        let files = [0, 1].map(|at: usize| {
            let mut bytes = file(&points[at]);
            // Each record has a header of 16 bytes and 96 of its packet.
            let damaged = 24 + 500 * 112..24 + 505 * 112;
            if at == point {
                bytes[damaged].fill(0xff);
            }
            let path = folder.path().join(at.to_string());
            fs::write(&path, bytes).unwrap();
            Point::file(path)
        });
        let config = PathConfig {
            repair: true,
            ..PathConfig::default()
        };
        let hop = &PathAnalysis::of(&files, &config).unwrap().hops[0];
        assert_eq!(counts(hop), (1, 5), "{point}");
        assert_eq!(kinds(hop, point), [GapKind::Damaged]);
        assert_eq!(flow(hop, Heading::Forward).appeared_packets, 0);
        let gap = &hop.facts[point].gaps[0];
        assert_eq!(gap.frames, (500, 501));
        assert_eq!([gap.not_left, gap.not_come_in][1 - point], 5);
    }
}

//! What `ccanalyze path` says of captures that are not what it needs, and of what it could not do.

use std::fs;
use std::process::Command;

use super::support::{FILE_HEADER, capture, later, records, shared, snapped, with_records};

/// What the command warns of, given two captures of a lab scenario and more; `None` where there is no lab.
fn warned(scenario: &str, [before, after]: [&str; 2], more: &[&str]) -> Option<String> {
    let lab = shared(&format!("lab/{scenario}"))?;
    let output = Command::new(env!("CARGO_BIN_EXE_ccanalyze"))
        .args(["path", "--before", before, "--after", after, "--no-charts"])
        .args(more)
        .current_dir(lab)
        .output()
        .unwrap();
    assert!(output.status.success());
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The link's rate was set to 20, 4, 30 and 8 Mbit/s in turn; that of the others is constant.
#[test]
fn what_cannot_be_of_rate_limit_and_order_is_said() {
    let (right, wrong) = (
        ["ingress.pcap.zst", "egress.pcap.zst"],
        ["egress.pcap.zst", "ingress.pcap.zst"],
    );
    let (steps, even) = ("s7-rate-steps", "s3-two-bbr-bbr-0.5bdp");
    let shallow = "s1-single-50m-cubic-shallow";
    for (scenario, order, more, said) in [
        (shallow, right, &["--limit", "10p"][..], None),
        (shallow, right, &["--limit", "15kB"], None),
        (
            shallow,
            right,
            &["--limit", "1000p"],
            Some("far below the limit given, 1,000 packets: 10 packets are taken for it"),
        ),
        (
            shallow,
            right,
            &["--limit", "1.5MB"],
            Some("far below the limit given, 1.50 MB"),
        ),
        (even, right, &[][..], None),
        (even, wrong, &[], Some("nearly all goes the way back")),
        (even, right, &["-c", "10Mbit"], None),
        (
            even,
            right,
            &["-c", "100Mbit"],
            Some("% of the capacity given, 100 Mbit/s: the link was slower"),
        ),
        (
            steps,
            right,
            &[],
            Some("do not go with one rate of the link"),
        ),
        (
            steps,
            right,
            &["-c", "20Mbit"],
            Some("left for a second, more than the capacity given, 20.0 Mbit/s"),
        ),
    ] {
        let Some(warned) = warned(scenario, order, more) else {
            return;
        };
        match said {
            Some(said) => assert!(warned.contains(said), "{scenario} {more:?}: {warned}"),
            None => assert!(!warned.contains("warning"), "{scenario} {more:?}: {warned}"),
        }
    }
}

/// A capture that lost every 40th of its records says so by what leaves without having come in there: which way that
/// goes tells whose capture it was.
#[test]
fn records_that_a_capture_lost_are_its_own() {
    let Some(lab) = shared("lab/s7-clean") else {
        return;
    };
    let whole = ["ingress", "egress"].map(|at| {
        let path = lab.join(at).with_extension("pcap.zst");
        zstd::decode_all(fs::File::open(path).unwrap()).unwrap()
    });
    let folder = tempfile::tempdir().unwrap();
    for (loser, said) in [
        (
            0,
            "the way forward without having come in: the first capture missed them (then what it missed on the way back counts as dropped)",
        ),
        (
            1,
            "the way back without having come in: the second capture missed them (then what it missed on the way forward counts as dropped)",
        ),
    ] {
        for (point, bytes) in whole.iter().enumerate() {
            let every = if point == loser { 40 } else { usize::MAX };
            let kept = without_every(bytes, every);
            fs::write(folder.path().join(format!("{point}.pcap")), kept).unwrap();
        }
        let path = ["path", "--before", "0.pcap", "--after", "1.pcap"];
        let run = super::cli::run(folder.path(), &path);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

/// Each four records in turn backwards, which is put in order, or 20 of the first half of the capture and 20 of the other
/// in turn, which are seconds apart.
#[test]
fn records_that_are_too_far_out_of_order_to_be_put_in_it_are_said_to_be() {
    let Some(lab) = shared("lab/s7-clean") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let of_point = |at: &str| {
        let path = lab.join(at).with_extension("pcap.zst");
        zstd::decode_all(fs::File::open(path).unwrap()).unwrap()
    };
    fs::write(folder.path().join("out.pcap"), of_point("egress")).unwrap();
    let bytes = of_point("ingress");
    let all: Vec<&[u8]> = records(&bytes).collect();
    let [early, late] = [&all[..all.len() / 2], &all[all.len() / 2..]];
    let dealt = early.chunks(20).zip(late.chunks(20));
    let far = dealt.flat_map(|(early, late)| [early, late].concat());
    let near = all.chunks(4).flat_map(|four| four.iter().rev().copied());
    for (order, said) in [(far.collect::<Vec<_>>(), true), (near.collect(), false)] {
        let file = with_records(&bytes, order);
        fs::write(folder.path().join("in.pcap"), file).unwrap();
        let path = ["path", "--before", "in.pcap", "--after", "out.pcap"];
        let run = super::cli::run(folder.path(), &path);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let warned = run
            .stderr
            .contains("unless `reordercap` puts the captures in order first");
        assert_eq!(warned, said, "{}", run.stderr);
    }
}

/// What leaves while a capture is stopped is no drop, and that is said.
#[test]
fn a_capture_that_was_stopped_for_a_while_is_said_to_be() {
    let Some(lab) = shared("lab/s7-clean") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (at, name, stopped) in [("ingress", "in.pcap", 0), ("egress", "out.pcap", 300)] {
        let path = lab.join(at).with_extension("pcap.zst");
        let bytes = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
        fs::write(
            folder.path().join(name),
            without(&bytes, 200..200 + stopped),
        )
        .unwrap();
    }
    let path = ["path", "--before", "in.pcap", "--after", "out.pcap"];
    let run = super::cli::run(folder.path(), &path);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let said = "the second capture has nothing for ";
    let why = "though the path was up, as 300 packets of that time show that were seen elsewhere: they are undecided";
    assert!(
        run.stderr.contains(said) && run.stderr.contains(why),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains(" packets, 0 dropped"), "{}", run.stdout);
}

/// A pcap without every so manieth of its records.
fn without_every(bytes: &[u8], every: usize) -> Vec<u8> {
    kept(bytes, |number| !number.is_multiple_of(every))
}

/// A pcap without these of its records, which are counted from 1.
fn without(bytes: &[u8], left_out: std::ops::Range<usize>) -> Vec<u8> {
    kept(bytes, |number| !left_out.contains(&number))
}

fn kept(bytes: &[u8], keeps: impl Fn(usize) -> bool) -> Vec<u8> {
    let kept = (1..)
        .zip(records(bytes))
        .filter(|&(number, _)| keeps(number));
    with_records(bytes, kept.map(|(_, record)| record))
}

/// Whether nothing else bears on a capture beside its own copy.
pub(super) fn says_only_that_one_is_a_copy(errors: &str) -> bool {
    errors.contains("one is a copy of the other") && errors.lines().count() == 1
}

#[test]
fn captures_that_are_no_two_points_of_one_run_are_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let one = fs::read(capture("drop-one.pcap")).unwrap();
    let ipv6 = fs::File::open(capture("ipv6-loss.pcap.zst")).unwrap();
    let ipv6 = snapped(&zstd::decode_all(ipv6).unwrap(), 54);
    for (name, bytes) in [
        ("in.pcap", &one[..]),
        ("copy.pcap", &one),
        ("other.pcap", &fs::read(capture("refused.pcap")).unwrap()),
        ("none.pcap", &one[..FILE_HEADER]),
        ("cut.pcap", &ipv6),
        ("short.pcap", &one[..90]),
        ("damaged.pcap", &[&one[..FILE_HEADER], &[0x77; 40]].concat()),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    for (after, status, said) in [
        ("copy.pcap", 0, "one is a copy of the other"),
        (
            "other.pcap",
            2,
            "none of its packets is in other.pcap, and by their clocks they begin ",
        ),
        (
            "none.pcap",
            2,
            "none.pcap: there is no IP packet in it: was it the right interface? (`ccanalyze none.pcap` says what is in it)",
        ),
        (
            "short.pcap",
            2,
            "error: short.pcap: record 1 at byte 24: needs 90 bytes but the file ends after 66: the capture was cut short",
        ),
        (
            "damaged.pcap",
            2,
            "error: damaged.pcap: record 1 at byte 24: record length of 2004318071 bytes, but 16777216 is the largest that can be: the file is damaged from here on; --repair goes on behind the damage\n",
        ),
        (
            "cut.pcap",
            2,
            "cut.pcap: the snap length cut the headers of its packets so short that they all look alike: capture with a snap length of 128 or more",
        ),
    ] {
        let run = super::cli::run(
            folder.path(),
            &["path", "--before", "in.pcap", "--after", after],
        );
        assert_eq!(run.status, status, "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

/// The second clock is 3 s ahead, or as it was.
#[test]
fn why_clocks_are_not_corrected_is_said_as_it_is() {
    let Some(lab) = shared("lab/s7-clean") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |at: &str, name: &str, seconds| {
        let path = lab.join(at).with_extension("pcap.zst");
        let bytes = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
        fs::write(folder.path().join(name), later(bytes, seconds)).unwrap();
    };
    write("ingress", "in.pcap", 0);
    let path = [
        "path", "--before", "in.pcap", "--after", "out.pcap", "--clock",
    ];
    for (seconds, choice, said) in [
        (3, "auto", "clocks: corrected, the second was 3.00 s ahead"),
        (
            3,
            "keep",
            "clocks: not corrected, as --clock keep asks for (offset 3.00 s, within ",
        ),
        (
            0,
            "auto",
            "clocks: not corrected, as no packet arrived before it left (the second may be ",
        ),
    ] {
        write("egress", "out.pcap", seconds);
        let run = super::cli::run(folder.path(), &[&path[..], &[choice]].concat());
        assert!(run.stdout.contains(said), "{choice}: {}", run.stdout);
    }
}

#[test]
fn what_is_wrong_with_a_point_between_two_hops_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(capture("drop-one.pcap")).unwrap();
    let cut = &whole[..whole.len() - 1];
    for (name, bytes) in [("a.pcap", &whole[..]), ("b.pcap", cut), ("c.pcap", &whole)] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let points = ["a.pcap", "b.pcap", "c.pcap"].map(|name| ["--point", name]);
    let args = [&["path"], points.as_flattened()].concat();
    let run = super::cli::run(folder.path(), &args);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let errors = run.stderr.matches("error: b.pcap: record ").count();
    assert_eq!(errors, 1, "{}", run.stderr);
}

#[test]
fn a_day_on_which_nothing_passes_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] =
        ["drop-one.pcap", "keep-alive.pcap"].map(|name| std::fs::read(capture(name)).unwrap());
    let other = later(other, 86_400);
    for (name, bytes) in [
        ("in.pcap0", &one),
        ("in.pcap1", &other),
        ("out.pcap0", &one),
        ("out.pcap1", &other),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let warned = |args: &[&str]| {
        let run = super::cli::run(folder.path(), args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stderr
    };
    let all = ["path", "--before", "in.pcap0", "in.pcap1", "--after"];
    let both = warned(&[&all[..], &["out.pcap0", "out.pcap1"]].concat());
    let said =
        " s, and averages over time and charts include that time: name the parts of one run alone";
    assert!(both.contains(said), "{both}");
    let one = warned(&["path", "--before", "in.pcap0", "--after", "out.pcap0"]);
    assert!(!one.contains("nothing passed"), "{one}");
}

/// What is waited for less than it takes is not found: not for want of a path.
#[test]
fn too_little_patience_is_said_to_keep_packets_from_being_found() {
    let Some(lab) = shared("lab/s7-clean") else {
        return;
    };
    let points = ["ingress", "egress"].map(|at| lab.join(at).with_extension("pcap.zst"));
    let [before, after] = points.each_ref().map(|path| path.to_str().unwrap());
    let path = [
        "path",
        "--before",
        before,
        "--after",
        after,
        "--patience",
        "1us",
    ];
    let run = super::cli::run(&lab, &path);
    let said = "if they take longer than --patience (1.00 µs)";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

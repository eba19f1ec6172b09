//! The document.

use std::fmt::Write as _;

use ccanalyze::path::QueueLimit;

use crate::compare::{Compared, Near, Skewed, full};
use crate::limits::{Limits, part};
use crate::skew::Wrong;

pub(crate) fn document(results: &[Compared], testbed: &str) -> String {
    let mut text = INTRODUCTION.to_owned();
    totals(&mut text, results);
    text.push_str(SCENARIOS);
    for result in results {
        row(&mut text, result);
    }
    wrong(&mut text, results);
    clocks(&mut text, results);
    wrong_clocks(&mut text, results);
    text.push_str(LIMITS);
    text.push_str(testbed);
    text
}

fn totals(text: &mut String, results: &[Compared]) {
    text.push_str("\n## In short\n\n| | lab | ns-3 |\n| --- | --: | --: |\n");
    let kinds = ["lab/", "ns3/"];
    let mut line = |what: &str, of: &dyn Fn(&[&Compared]) -> String| {
        let cells: Vec<String> = kinds
            .iter()
            .map(|kind| {
                let some: Vec<&Compared> = results
                    .iter()
                    .filter(|result| result.name.starts_with(kind))
                    .collect();
                of(&some)
            })
            .collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    line("scenarios", &|some| some.len().to_string());
    line("drops logged", &|some| {
        some.iter().map(|one| one.drops.1).sum::<u64>().to_string()
    });
    line("drops found", &|some| {
        some.iter().map(|one| one.drops.0).sum::<u64>().to_string()
    });
    line("flows with another number of drops than logged", &|some| {
        some.iter()
            .map(|one| one.flows_wrong)
            .sum::<usize>()
            .to_string()
    });
    line("packets matched with another packet", &|some| {
        let matches = some.iter().filter_map(|one| one.matches);
        let (wrong, all) = matches.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if all == 0 {
            return "not logged".to_owned();
        }
        format!("{wrong} of {all}")
    });
    line(
        "delays within 20 us of the time between its two frames",
        &|some| near(some, |one| &one.delays),
    );
    line("largest error of these", &|some| {
        let worst = some.iter().filter(|one| one.delays.values > 0);
        worst
            .map(|one| one.delays.worst)
            .max()
            .map_or("not logged".to_owned(), |ns| format!("{ns} ns"))
    });
    line("mean queue within 1 % of the log", &|some| {
        let good = some.iter().filter(|one| error(one).abs() <= 0.01);
        format!("{} of {}", good.count(), some.len())
    });
    line("mean queue within 1 % or 0.05 packets", &|some| {
        let good = some.iter().filter(|one| is_near(one));
        format!("{} of {}", good.count(), some.len())
    });
    line("queue over time within one packet", &|some| {
        near(some, |one| &one.series)
    });
    line("the same from the log's own waits", &|some| {
        near(some, |one| &one.limits.series)
    });
    line("time waited within 20 us", &|some| {
        near(some, |one| &one.waits)
    });
    line(
        "the same with the transit that fits the log best",
        &|some| near(some, |one| &one.limits.waits),
    );
    line("mean error of the time waited", &|some| {
        let mut sum = Near::default();
        for one in some {
            sum.merge(&one.waits);
        }
        sum.mean()
            .map_or("not logged".to_owned(), |ns| format!("{:.1} us", ns / 1e3))
    });
    line("with 3 s and 50 ppm: flows with other drops", &|some| {
        some.iter()
            .map(|one| one.skewed[0].flows_wrong)
            .sum::<usize>()
            .to_string()
    });
    line(
        "with 3 s and 50 ppm: errors beyond what is stated",
        &|some| {
            let beyond = some.iter().filter(|one| {
                let stated = one.skewed[0].uncertainty.unwrap_or(f64::INFINITY);
                one.skewed[0].delay_error_max as f64 > stated + STEP_NS
            });
            beyond.count().to_string()
        },
    );
    line("with 3 s and 50 ppm: largest error of a delay", &|some| {
        let worst = some.iter().map(|one| one.skewed[0].delay_error_max).max();
        format!("{:.1} us", worst.unwrap_or(0) as f64 / 1e3)
    });
}

fn near(some: &[&Compared], of: fn(&Compared) -> &Near) -> String {
    let mut sum = Near::default();
    for one in some {
        sum.merge(of(one));
    }
    if sum.values == 0 {
        return "not logged".to_owned();
    }
    format!(
        "{:.2} % of {}",
        100.0 * sum.close as f64 / sum.values as f64,
        sum.values
    )
}

/// Of the mean queue, relative.
fn error(one: &Compared) -> f64 {
    match one.queue {
        Some((ours, truth)) if truth > 0.0 => ours / truth - 1.0,
        _ => 0.0,
    }
}

fn is_near(one: &Compared) -> bool {
    let difference = one.queue.map_or(0.0, |(ours, truth)| (ours - truth).abs());
    error(one).abs() <= 0.01 || difference <= 0.05
}

fn row(text: &mut String, one: &Compared) {
    let percent = |near: &Near| match near.values {
        0 => "-".to_owned(),
        values => format!("{:.1} %", 100.0 * near.close as f64 / values as f64),
    };
    let limit = match one.limit {
        Some(QueueLimit::Packets(packets)) => format!("{packets} p"),
        Some(QueueLimit::Bytes(bytes)) => format!("{bytes} B"),
        None => "-".to_owned(),
    };
    let (ours, truth) = one.queue.unwrap_or((0.0, 0.0));
    let _ = writeln!(
        text,
        "| `{}` | {} | {} | {} / {} / {} | {limit} | {truth:.3} | {ours:.3} | {:+.2} % | {} | {} | {} | {} | {:.1} |",
        one.name,
        if one.logged.is_empty() {
            "none"
        } else {
            &one.logged
        },
        if one.flows_wrong == 0 {
            "exact".to_owned()
        } else {
            format!("**{} found**", one.drops.0)
        },
        one.causes[0],
        one.causes[1],
        one.causes[2],
        100.0 * error(one),
        percent(&one.series),
        percent(&one.limits.series),
        percent(&one.waits),
        percent(&one.limits.waits),
        one.skewed[0].delay_error_max as f64 / 1e3,
    );
}

fn wrong(text: &mut String, results: &[Compared]) {
    text.push_str("\n## What is wrong\n\n");
    let far: Vec<&Compared> = results.iter().filter(|one| !is_near(one)).collect();
    if !far.is_empty() {
        text.push_str("Mean queue off by more than 1 % and 0.05 packets:\n\n");
        for one in far {
            let (ours, truth) = one.queue.unwrap_or((0.0, 0.0));
            let _ = writeln!(
                text,
                "- `{}`: {ours:.3} for {truth:.3} ({:+.1} %)",
                one.name,
                100.0 * error(one)
            );
        }
        text.push('\n');
    }
    let drop_tail = results
        .iter()
        .filter(|one| one.logged.ends_with("drop-tail") && !one.logged.contains(','));
    let missed: Vec<String> = drop_tail
        .filter(|one| full(one.causes) < one.drops.1)
        .map(|one| format!("`{}` {} of {}", one.name, full(one.causes), one.drops.1))
        .collect();
    if !missed.is_empty() {
        let _ = writeln!(
            text,
            "Drops of a full queue that were found at one that was not, or not known to be: {}.\n",
            missed.join(", ")
        );
    }
    let late: Vec<String> = results
        .iter()
        .filter(|one| one.skewed[0].delay_error_max > 100_000)
        .map(|one| {
            format!(
                "`{}` {:.0} us (stated: {:.0} us)",
                one.name,
                one.skewed[0].delay_error_max as f64 / 1e3,
                one.skewed[0].uncertainty.unwrap_or(0.0) / 1e3
            )
        })
        .collect();
    if !late.is_empty() {
        let _ = writeln!(
            text,
            "Delays off by more than 100 us with a clock that is wrong: {}.\n",
            late.join(", ")
        );
    }
}

/// Clocks of captures show no less.
const STEP_NS: f64 = 1000.0;

/// What the log's clock and the captures' stamps say of the same packets.
fn clocks(text: &mut String, results: &[Compared]) {
    let all = |of: fn(&Limits) -> &Vec<i64>| {
        let values = results.iter().flat_map(|one| of(&one.limits));
        values.copied().collect::<Vec<i64>>()
    };
    text.push_str(CLOCKS);
    let rows = [
        (
            "the log's clock was read after the packet came",
            all(|limits| &limits.read_late),
        ),
        (
            "stamped later than logged when it left",
            all(|limits| &limits.left_late),
        ),
    ];
    for (what, values) in rows {
        let middle = part(values.clone(), 0.5);
        let near = values
            .iter()
            .filter(|value| value.abs_diff(middle) <= 20_000);
        let share = 100.0 * near.count() as f64 / values.len().max(1) as f64;
        let parts = [0.05, 0.5, 0.75, 0.9, 0.95, 0.99]
            .map(|share| format!("{:.1}", part(values.clone(), share) as f64 / 1e3));
        let _ = writeln!(
            text,
            "| {what} | {} | {} | {share:.1} % |",
            values.len(),
            parts.join(" | ")
        );
    }
    text.push('\n');
    transits(text, results);
}

/// Where the transit that suits the log best would bring more waits near to the log's.
fn transits(text: &mut String, results: &[Compared]) {
    let mut gains: Vec<(i64, &Compared)> = results
        .iter()
        .map(|one| (one.limits.waits.close as i64 - one.waits.close as i64, one))
        .collect();
    gains.sort_by_key(|&(gain, one)| (std::cmp::Reverse(gain), &one.name));
    let sum = |gains: &[(i64, &Compared)]| gains.iter().map(|gain| gain.0).sum::<i64>();
    let (first, all) = (&gains[..gains.len().min(SCENARIOS_NAMED)], sum(&gains));
    let named: Vec<String> = first
        .iter()
        .map(|(gain, one)| {
            let us = one.limits.longer as f64 / 1e3;
            format!("`{}` {gain} ({us:+.1} us)", one.name)
        })
        .collect();
    let _ = writeln!(
        text,
        "Most packets that the best transit would bring within 20 us, and by how much ours are then longer in the middle: {}. These are {} of {all} in all \
         scenarios. There the packets that waited were stamped later after their turn than those that found the link idle, from which the transit is told, or sooner: \
         by one constant that the captures do not show, and the log does.\n",
        named.join(", "),
        sum(first),
    );
}

/// Scenarios that are named.
const SCENARIOS_NAMED: usize = 5;

/// What remains of clocks that are wrong.
fn wrong_clocks(text: &mut String, results: &[Compared]) {
    text.push_str(WRONG_CLOCKS);
    for (index, (_, what)) in Wrong::ALL.iter().enumerate() {
        for (kind, word) in [("lab/", "lab"), ("ns3/", "ns-3")] {
            let some = results.iter().filter(|one| one.name.starts_with(kind));
            let some: Vec<&Skewed> = some.map(|one| &one.skewed[index]).collect();
            let within = some.iter().filter(|one| one.delay_error_max <= 100_000);
            let few = some.iter().filter(|one| one.far.0 <= 50);
            let (far, all) = some
                .iter()
                .fold((0, 0), |sum, one| (sum.0 + one.far.0, sum.1 + one.far.1));
            let pieces: usize = some.iter().map(|one| one.pieces).sum();
            let steps: usize = some.iter().map(|one| one.steps).sum();
            let _ = writeln!(
                text,
                "| {what} | {word} | {} | {} | {} | {far} of {all} | {pieces} | {steps} | {} |",
                some.len(),
                within.count(),
                few.count(),
                some.iter().map(|one| one.flows_wrong).sum::<usize>()
            );
        }
    }
    text.push('\n');
}

const WRONG_CLOCKS: &str = "## Clocks that are wrong

The second capture's clock 3 s ahead, and what else is said, in every scenario; delays against those with both clocks right. *within*: scenarios in which
every delay is within 100 us; *few*: in which at most 50 packets are further off; *far*: packets that are. *pieces*, *steps*: what was found, in all
scenarios together. Most of these captures last a second or two, so that a clock that is put back dates a hundredth of their packets twice. *the first one's so*: the
first capture's clock is 3 s ahead and gains 50 ppm.

| clock | | scenarios | within | few | far | pieces | steps | flows with other drops |
| --- | --- | --: | --: | --: | --: | --: | --: | --: |
";

const INTRODUCTION: &str = "# Before and after a queue: how right the numbers are

Made by one command:

```sh
cargo run --release --no-default-features --example path -- ../shared > docs/PATH.md
```

It runs the analysis behind `ccanalyze path` on captures from before and after a bottleneck, without telling it anything about the path, and compares
with the log of what the queue did. *lab*: Linux senders and a path emulator that logged each packet; *ns-3*: simulations, traced inside.
Definitions are in [METRICS.md](../METRICS.md#between-two-points).
";

const SCENARIOS: &str = "
## By scenario

*found*: whether the number of drops of every flow is the log's. *full / early / idle*: our causes. *limit*: as the drops show it. *queue*: mean packets
waiting. *series*: values of the queue over time within one packet of the log (lab: largest in each 10 ms; ns-3: samples every 10 ms). *by log*: the same,
were each packet's wait the one that the log has for it, from when the capture saw it come. *waits*: packets whose time in the queue is within 20 us of the log's.
*at best*: the same, were the transit (METRICS.md B5) the one that suits the log best. *skew*: with the second clock 3 s ahead and 50 ppm fast, the largest error of a delay in us.

| scenario | drops logged | found | full / early / idle | limit | queue logged | ours | error | series | by log | waits | at best | skew |
| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
";

const CLOCKS: &str = "## What log and captures say of the same packets

Both are of one machine and one clock, but the emulator reads it for some packets at once, after the kernel had stamped them, and its timer wakes it
late. In us; *near*: within 20 us of the middle value. No estimate from the captures alone can be nearer to the log than these two are to each other.

| | packets | 5 % | 50 % | 75 % | 90 % | 95 % | 99 % | near |
| --- | --: | --: | --: | --: | --: | --: | --: | --: |
";

const LIMITS: &str = "Known limits:

- A queue that drops what it had taken held the dropped packets for a while. That is told from when it drops, where it is CoDel (METRICS.md B6); of others that do so their share is missing.
- The log's waits are those of an ideal link fed when the emulator looked at its clock, the captures show when packets really came and left: the table above. `s6-loss-nosack` stood still for 15 ms once,
  in which packets that had left by the log were still there; `s7-upload` has a queue of 0.0003 packets, all of it such lateness.
- A random drop that happens to meet a full queue counts as a drop of the full queue.
- A clock that is set is found to the packet from 1 ms on, and where packets go both ways around it; less is told to the windows of the envelope (a 2000th of the capture). What is left are packets in a pause
  of a second (`s7-synack-loss`, of which a handshake came before it, `s7-keepalive`, `s7-ack-stall`, `s7-tail-rto`): nothing tells which of them came before the step.
- A link's rate from one capture is the pace of its packets: a sender that spaces them evenly itself and never fills the link shows its own.

## How long it takes

Beside the plain analysis of both captures, on generated ones of half a million to 3 million packets at each point, on two cores: packets are
found once, whatever the clocks are. Wall time, and processor time; *speed*: that of `path` over that of the plain analysis, by either. It should
be half as fast at least.

| capture, packets of both | plain | `path` | clocks 3 s and 50 ppm apart | speed | clocks apart |
| --- | --: | --: | --: | --: | --: |
| `bulk`, 32 flows, full size, 3 M | 0.27, 0.53 s | 0.42, 0.70 s | 0.46, 0.77 s | 0.65, 0.76 | 0.59, 0.70 |
| `bulk`, 96 bytes a packet, 3 M | 0.19, 0.37 s | 0.35, 0.58 s | 0.35, 0.60 s | 0.54, 0.64 | 0.53, 0.61 |
| `one` flow, 96 bytes, 3 M | 0.19, 0.37 s | 0.33, 0.54 s | 0.36, 0.59 s | 0.57, 0.67 | 0.53, 0.62 |
| `mix`, 96 bytes, 6 M | 0.71, 1.33 s | 0.90, 1.48 s | 0.89, 1.45 s | 0.78, 0.90 | 0.79, 0.91 |
| `many`, 100,000 connections, 96 bytes, 1 M | 0.39, 0.60 s | 0.54, 0.84 s | 0.54, 0.83 s | 0.71, 0.72 | 0.72, 0.72 |

```sh
cargo run --release --no-default-features --example synth -- mix --packets 3000000 --snap 96 > before.pcap
cargo run --release --no-default-features --example path -- --pair before.pcap after.pcap
cargo run --release --no-default-features --example path -- --speed before.pcap after.pcap
```
";

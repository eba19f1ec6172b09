//! What was set out to be reached, and what is.

use std::fmt::Write as _;
use std::time::Duration;

use crate::measure::Timing;
use crate::report::{Table, find};
use crate::{
    ACKS, CAT, ELEPHANTS, ELEPHANTS_LONG, FULL, MANY, MILLION, MIX, ONE, ONE_THREAD, PCAPNG, SMALL,
    TABLES, TABLES_AND_ROWS, TCPTRACE, TSHARK, TWO_THREADS,
};

/// One line: what, what it must be, what it is.
struct Goal {
    what: &'static str,
    must: f64,
    is: f64,
    /// Small numbers are good ones.
    falls: bool,
    unit: &'static str,
}

/// What was measured.
struct Measured<'a>(&'a [Table]);

impl Measured<'_> {
    fn table(&self, name: &str) -> Option<&Table> {
        self.0.iter().find(|table| table.name == name)
    }

    fn whole(&self, name: &str, command: &str) -> Option<&Timing> {
        find(&self.table(name)?.whole, command)
    }

    /// Million packets a second by the processor's time; with two threads twice as many.
    fn rate(&self, name: &str, command: &str) -> Option<f64> {
        let threads = if command == TWO_THREADS { 2.0 } else { 1.0 };
        let cpu = self.whole(name, command)?.cpu.as_secs_f64();
        Some(self.table(name)?.records as f64 * threads / cpu / 1e6)
    }

    /// How much more of the processor's time a peer takes for the same packets.
    fn over_peer(&self, name: &str, peer: &str) -> Option<f64> {
        let prefix = &self.table(name)?.prefix;
        let cpu = |command| Some(find(prefix, command)?.cpu);
        ratio(cpu(peer), cpu(ONE_THREAD))
    }

    /// The same of a whole capture, and not of its beginning.
    fn over_peer_in_all(&self, name: &str, peer: &str) -> Option<f64> {
        ratio(self.cpu(name, peer), self.cpu(name, ONE_THREAD))
    }

    fn row_ns(&self) -> Option<f64> {
        let cpu = |command| Some(self.whole(MIX, command)?.cpu.as_secs_f64());
        let more = cpu(TABLES_AND_ROWS)? - cpu(TABLES)?;
        Some(more * 1e9 / self.table(MIX)?.data_packets as f64)
    }

    fn wall(&self, name: &str, command: &str) -> Option<Duration> {
        Some(self.whole(name, command)?.wall)
    }

    fn cpu(&self, name: &str, command: &str) -> Option<Duration> {
        Some(self.whole(name, command)?.cpu)
    }

    fn speeds(&self) -> Vec<Option<Goal>> {
        let speed =
            |what, must, name, command| rises(what, must, " M packets/s", self.rate(name, command));
        let full_gigabytes = || {
            let cpu = self.cpu(FULL, ONE_THREAD)?.as_secs_f64();
            Some(self.table(FULL)?.bytes as f64 / cpu / 1e9)
        };
        // Of the frames alone, as a link carries them.
        let full_gigabits = || {
            /// Bytes in front of each record of a pcap file.
            const RECORD_HEADER: u64 = 16;
            let table = self.table(FULL)?;
            let frames = table.bytes - RECORD_HEADER * table.records;
            let wall = self.wall(FULL, TWO_THREADS)?.as_secs_f64();
            Some(8.0 * frames as f64 / wall / 1e9)
        };
        let over_cat = ratio(self.wall(FULL, TWO_THREADS), self.wall(FULL, CAT));
        vec![
            speed("elephants and mice, one core", 12.0, MIX, ONE_THREAD),
            speed("elephants and mice, two cores", 20.0, MIX, TWO_THREADS),
            speed("elephants, one core", 12.0, ELEPHANTS, ONE_THREAD),
            speed("full size, one core", 6.0, FULL, ONE_THREAD),
            rises("full size, one core", 6.5, " GB/s", full_gigabytes()),
            falls(
                "full size, two cores, by the clock, over `cat FILE`",
                1.0,
                "",
                over_cat,
            ),
            rises(
                "full size, two cores, by the clock",
                100.0,
                " Gbit/s",
                full_gigabits(),
            ),
            speed("one flow, two cores", 12.0, ONE, TWO_THREADS),
            // 10 Gbit/s of the smallest frames.
            speed("frames of 64 bytes, one core", 14.88, ACKS, ONE_THREAD),
            speed(
                "a million connections, two cores",
                8.0,
                MILLION,
                TWO_THREADS,
            ),
        ]
    }

    fn peers(&self) -> Vec<Option<Goal>> {
        let more = |what, must, name, peer| rises(what, must, " times", self.over_peer(name, peer));
        vec![
            more("tcptrace over it, elephants and mice", 8.0, MIX, TCPTRACE),
            rises(
                "tcptrace over it, elephants and mice, the whole capture",
                8.0,
                " times",
                self.over_peer_in_all(MIX, TCPTRACE),
            ),
            more(
                "tcptrace over it, 100,000 connections",
                20.0,
                MANY,
                TCPTRACE,
            ),
            more("tshark over it, elephants", 400.0, ELEPHANTS, TSHARK),
            more("tshark over it, elephants, full size", 400.0, FULL, TSHARK),
            more("tshark over it, elephants and mice", 400.0, MIX, TSHARK),
        ]
    }

    fn costs(&self) -> Vec<Option<Goal>> {
        let pcapng = ratio(self.cpu(PCAPNG, ONE_THREAD), self.cpu(MIX, ONE_THREAD));
        let held =
            |name| Some(self.table(name)?.anonymous_bytes as f64).filter(|&bytes| bytes > 0.0);
        let growth = || Some((held(ELEPHANTS_LONG)? / held(ELEPHANTS)? - 1.0) * 100.0);
        let small = self
            .wall(SMALL, TWO_THREADS)
            .map(|wall| wall.as_secs_f64() * 1e3);
        vec![
            falls("pcapng over pcap", 1.2, "", pcapng),
            falls(
                "a row of `--segments` in Parquet, more",
                250.0,
                " ns",
                self.row_ns(),
            ),
            falls(
                "memory of four times as many packets, more",
                10.0,
                " %",
                growth(),
            ),
            falls(
                "memory of 100,000 connections",
                100.0,
                " MB",
                held(MANY).map(|bytes| bytes / 1e6),
            ),
            falls("100 packets, by the clock", 30.0, " ms", small),
        ]
    }
}

/// The more, the better.
fn rises(what: &'static str, must: f64, unit: &'static str, is: Option<f64>) -> Option<Goal> {
    is.map(|is| Goal {
        what,
        must,
        is,
        falls: false,
        unit,
    })
}

/// The less, the better.
fn falls(what: &'static str, must: f64, unit: &'static str, is: Option<f64>) -> Option<Goal> {
    Some(Goal {
        falls: true,
        ..rises(what, must, unit, is)?
    })
}

fn ratio(one: Option<Duration>, other: Option<Duration>) -> Option<f64> {
    let other = other.filter(|other| !other.is_zero())?;
    Some(one?.as_secs_f64() / other.as_secs_f64())
}

/// The table of what is reached.
pub(crate) fn section(tables: &[Table]) -> String {
    let mut text = String::from(
        "## What is reached, and what is not\n\n\
         By the processor's time, 96 bytes a packet, where nothing else is said; two cores: twice what one of two threads does. *Memory* is anonymous.\n\n\
         | what | aim | measured | |\n| --- | ---: | ---: | --- |\n",
    );
    let measured = Measured(tables);
    let all = [measured.speeds(), measured.peers(), measured.costs()];
    let all = all.into_iter().flatten().flatten();
    for Goal {
        what,
        must,
        is,
        falls,
        unit,
    } in all
    {
        let reached = if falls { is <= must } else { is >= must };
        let (bound, reached) = match (falls, reached) {
            (true, true) => ("at most", "reached"),
            (true, false) => ("at most", "not reached"),
            (false, true) => ("at least", "reached"),
            (false, false) => ("at least", "not reached"),
        };
        let digits = if is.abs() < 10.0 { 2 } else { 1 };
        let _ = writeln!(
            text,
            "| {what} | {bound} {must}{unit} | {is:.digits$}{unit} | {reached} |"
        );
    }
    text.push('\n');
    text
}

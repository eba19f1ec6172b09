//! What captures, flows and files are called.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::analyze::{Flow, FlowNames};
use crate::capture::acts;
use crate::decode::Endpoint;
use crate::event::Direction;
use crate::path::FlowKey;
use crate::study::words::Thousands;

/// Names of captures: the last `parts_min` parts of the path, the file's without its suffixes, and
/// as many folders before them as it takes to tell the captures apart.
pub(super) fn capture_names(paths: &[&str], parts_min: usize) -> Vec<String> {
    let parts: Vec<Vec<String>> = paths.iter().map(|path| parts(path)).collect();
    let name = |index: usize, depth: usize| {
        let parts: &[String] = &parts[index];
        parts[parts.len().saturating_sub(depth)..].join("/")
    };
    let deepest = parts.iter().map(Vec::len).max().unwrap_or(1);
    (0..paths.len())
        .map(|index| {
            let alone = |depth: &usize| {
                (0..paths.len())
                    .all(|other| other == index || name(other, *depth) != name(index, *depth))
            };
            // The same file twice cannot be told apart by any name.
            let depth = (parts_min..=deepest).find(alone).unwrap_or(parts_min);
            name(index, depth)
        })
        .collect()
}

/// The parts of a path, the last one without the suffixes of captures and compression.
fn parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path
        .split(std::path::is_separator)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    if let Some(last) = parts.last_mut() {
        let mut stem = last.as_str();
        for suffix in [
            "zst", "gz", "xz", "lz4", "bz2", "pcap", "pcapng", "cap", "dmp",
        ] {
            let shorter = Path::new(stem)
                .extension()
                .is_some_and(|found| found.eq_ignore_ascii_case(suffix));
            if shorter && stem.len() > suffix.len() + 1 {
                stem = &stem[..stem.len() - suffix.len() - 1];
            }
        }
        *last = stem.to_owned();
    }
    if parts.is_empty() {
        vec!["capture".to_owned()]
    } else {
        parts
    }
}

/// What a flow is called: made when it is asked for, since few flows of many are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowName {
    /// Instead of its ends.
    called: Option<Arc<str>>,
    ends: (Endpoint, Endpoint),
    /// Whether the ports of sender and receiver are needed.
    ports: (bool, bool),
    /// From 1: which of the flows of this name, or between these ends, where ports were used again.
    number: u32,
    /// Whether it is of UDP, which is said.
    is_udp: bool,
    /// How many of the last groups of a long IPv6 address are shown, behind its first one.
    groups: usize,
}

/// Groups of an IPv6 address.
const GROUPS: usize = 8;

/// Notes in one text, without those that say nothing.
pub(super) fn joined(notes: &[String]) -> String {
    let notes: Vec<&str> = notes
        .iter()
        .map(String::as_str)
        .filter(|note| !note.is_empty())
        .collect();
    notes.join(" · ")
}

#[cfg(test)]
impl FlowName {
    /// The longest there is.
    pub(super) fn longest(number: u32) -> Self {
        let end = Endpoint::v6([0xfe; 16], 65_432);
        Self {
            called: None,
            ends: (end, end),
            ports: (true, true),
            number,
            is_udp: false,
            groups: GROUPS,
        }
    }
}

impl FlowName {
    /// Of a flow that stands beside no other.
    pub(super) fn alone(ends: (Endpoint, Endpoint), is_udp: bool) -> Self {
        Self {
            called: None,
            ends,
            ports: (false, false),
            number: 1,
            is_udp,
            groups: GROUPS,
        }
    }

    /// Sender and receiver.
    fn ends(&self) -> (String, String) {
        let (src, dst) = &self.ends;
        let shown = |end: &Endpoint, port| endpoint(end, port, self.groups);
        (shown(src, self.ports.0), shown(dst, self.ports.1))
    }

    /// What tells it from other flows between its ends.
    fn number(&self) -> String {
        let udp = if self.is_udp && self.called.is_none() {
            " (UDP)"
        } else {
            ""
        };
        match self.number {
            0 | 1 => udp.to_owned(),
            number => format!("{udp} (#{number})"),
        }
    }
}

impl Display for FlowName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(called) = &self.called {
            return write!(f, "{called}{}", self.number());
        }
        let (src, dst) = self.ends();
        write!(f, "{src} → {dst}{}", self.number())
    }
}

/// Leaves out of long IPv6 addresses what is between their first group and as many of the last ones
/// as tell the addresses of these flows apart: two whole ones take most of a legend's width.
fn abbreviate(names: &mut [FlowName]) {
    let addresses: BTreeSet<Ipv6Addr> = names
        .iter()
        .flat_map(|name| [name.ends.0.ip(), name.ends.1.ip()])
        .filter_map(|ip| match ip {
            IpAddr::V6(ip) => Some(ip),
            IpAddr::V4(_) => None,
        })
        .collect();
    let are_enough = |&groups: &usize| {
        let mut seen = BTreeSet::new();
        addresses.iter().all(|ip| {
            let all = ip.segments();
            seen.insert((all[0], all[GROUPS - groups..].to_vec()))
        })
    };
    let groups = (1..GROUPS - 1).find(are_enough).unwrap_or(GROUPS);
    for name in names {
        name.groups = groups;
    }
}

/// Names of flows without the end that all of them share, and what that is, for a subtitle.
pub(super) fn apart<'a>(
    flows: impl Iterator<Item = &'a FlowName>,
) -> (Vec<String>, Option<String>) {
    let flows: Vec<&FlowName> = flows.collect();
    let ends: Vec<(String, String)> = flows.iter().map(|flow| flow.ends()).collect();
    let Some((src, dst)) = ends.first() else {
        return (Vec::new(), None);
    };
    let numbered = |end: fn(&(String, String)) -> &String| {
        let named = ends.iter().zip(&flows);
        named.map(move |(ends, flow)| end(ends).clone() + &flow.number())
    };
    if flows.iter().any(|flow| flow.called.is_some()) {
        (flows.iter().map(ToString::to_string).collect(), None)
    } else if ends.iter().all(|(_, other)| other == dst) {
        let names = numbered(|(src, _)| src).collect();
        (names, Some(format!("all to {dst}")))
    } else if ends.iter().all(|(other, _)| other == src) {
        let names = numbered(|(_, dst)| dst).collect();
        (names, Some(format!("all from {src}")))
    } else {
        (flows.iter().map(ToString::to_string).collect(), None)
    }
}

/// Sender and receiver of a flow, and which of them is the server.
#[derive(Clone, Debug)]
pub(super) struct FlowEnds {
    called: Option<Arc<str>>,
    src: Endpoint,
    dst: Endpoint,
    /// Whether it is the sender; `None` where no SYN tells.
    is_src_server: Option<bool>,
    is_udp: bool,
}

impl FlowEnds {
    pub(super) fn of(flow: &Flow<'_>, names: &FlowNames) -> Self {
        let (src, dst) = flow.ends();
        let is_seen = flow
            .connection()
            .parts()
            .are_openings_seen()
            .contains(&true);
        Self {
            called: names.of(flow),
            is_src_server: is_seen.then_some(flow.record.dir == Direction::Reverse),
            is_udp: flow.tcp().is_none(),
            ..Self::between(src, dst)
        }
    }

    /// Of a flow of a path.
    pub(super) fn of_path(key: &FlowKey, names: &FlowNames) -> Self {
        Self {
            called: names.of_key(key),
            is_udp: key.is_udp(),
            ..Self::between(key.src, key.dst)
        }
    }

    fn between(src: Endpoint, dst: Endpoint) -> Self {
        Self {
            called: None,
            src,
            dst,
            is_src_server: None,
            is_udp: false,
        }
    }
}

/// Whether the ports of sender and receiver of a flow are shown.
type Ports<'p> = &'p dyn Fn(&FlowEnds) -> (bool, bool);

/// Names of flows as they stand together in charts, in their order: those that they were given, else
/// `sender → receiver`, with ports only where some of these could not be told apart without them.
pub(super) fn flow_names(flows: &[FlowEnds]) -> Vec<FlowName> {
    // Where no SYN tells, servers are of senders and receivers those whose ports are lower: they chose theirs, and of a
    // client's they tell nothing.
    let unknown = || flows.iter().filter(|flow| flow.is_src_server.is_none());
    let highest = |of: fn(&FlowEnds) -> u16| unknown().map(of).max();
    let is_src_lower = highest(|flow| flow.src.port()) < highest(|flow| flow.dst.port());
    let server = |flow: &FlowEnds| {
        let is_src = flow.is_src_server.unwrap_or(is_src_lower);
        (is_src, !is_src)
    };
    let client = |flow: &FlowEnds| {
        let (src, dst) = server(flow);
        (dst, src)
    };
    let ways: [Ports<'_>; 3] = [&|_| (false, false), &server, &client];
    let shown = |end: &Endpoint, port: bool| end.with_port(if port { end.port() } else { 0 });
    let are_enough = |ports: &Ports<'_>| {
        let mut seen = HashSet::<_, RandomState>::default();
        let mut unnamed = flows.iter().filter(|flow| flow.called.is_none());
        unnamed.all(|flow| {
            let (src, dst) = ports(flow);
            seen.insert((shown(&flow.src, src), shown(&flow.dst, dst), flow.is_udp))
        })
    };
    let ports = ways.into_iter().find(are_enough);
    // Ports that were used again get a number.
    let mut seen: HashMap<_, u32, RandomState> = HashMap::default();
    let mut number = |flow: &FlowEnds| {
        let count = seen.entry((flow.src, flow.dst, flow.is_udp)).or_default();
        *count += 1;
        *count
    };
    let mut of_name: HashMap<&str, u32, RandomState> = HashMap::default();
    let mut names: Vec<FlowName> = flows
        .iter()
        .map(|flow| FlowName {
            called: flow.called.clone(),
            ports: ports.map_or((true, true), |ports| ports(flow)),
            number: match &flow.called {
                Some(name) => {
                    let count = of_name.entry(name).or_default();
                    *count += 1;
                    *count
                }
                None => ports.map_or_else(|| number(flow), |_| 1),
            },
            ..FlowName::alone((flow.src, flow.dst), flow.is_udp)
        })
        .collect();
    abbreviate(&mut names);
    names
}

/// The same of ends alone.
#[cfg(test)]
fn names_of_ends(ends: &[(Endpoint, Endpoint)]) -> Vec<FlowName> {
    let flows = ends.iter().map(|&(src, dst)| FlowEnds::between(src, dst));
    flow_names(&flows.collect::<Vec<_>>())
}

fn endpoint(end: &Endpoint, port: bool, groups: usize) -> String {
    match (end.ip(), port) {
        (IpAddr::V6(ip), false) => address(ip, groups),
        (IpAddr::V6(ip), true) => format!("[{}]:{}", address(ip, groups), end.port()),
        (ip, false) => ip.to_string(),
        (ip, true) => format!("{ip}:{}", end.port()),
    }
}

/// An address, of which only the first group and so many of the last are shown if that is shorter.
fn address(ip: Ipv6Addr, groups: usize) -> String {
    let whole = ip.to_string();
    let all = ip.segments();
    let shown = all[GROUPS - groups..].iter();
    let tail: Vec<String> = shown.map(|group| format!("{group:x}")).collect();
    let short = format!("{:x}:…:{}", all[0], tail.join(":"));
    // One that begins with zeros is of a kind of its own, such as one that holds an IPv4 address.
    if all[0] != 0 && short.chars().count() < whole.len() {
        short
    } else {
        whole
    }
}

/// A letter as it is, or what stands for one that cannot be seen, or would turn the text around it:
/// neither belongs in a picture or a page, and file names may hold any.
pub(in crate::report) fn visible(letter: char) -> char {
    // The last two are in no page: XML has none of them.
    if acts(letter) || matches!(letter, '\u{fffe}' | '\u{ffff}') {
        char::REPLACEMENT_CHARACTER
    } else {
        letter
    }
}

/// `1 flow`, `2 flows`.
pub(super) fn count(n: usize, noun: &str) -> String {
    Thousands::Thin.counted(n as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_act_are_replaced() {
        let text = "a\tb\u{1b}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{ffff}Ä日";
        let shown: String = text.chars().map(visible).collect();
        assert_eq!(shown, format!("a{0}b{0}{0}{0}{0}{0}{0}{0}Ä日", '\u{fffd}'));
    }

    #[test]
    fn captures_take_as_many_folders_as_it_needs_to_tell_them_apart() {
        for (paths, names) in [
            (vec!["runs/a/egress.pcap.zst"], vec!["egress"]),
            (
                vec!["runs/a/egress.pcap.zst", "runs/b/egress.pcap.zst"],
                vec!["a/egress", "b/egress"],
            ),
            (
                vec!["x/1/e.pcap", "y/1/e.pcap", "f.pcapng"],
                vec!["x/1/e", "y/1/e", "f"],
            ),
            (vec!["same.pcap", "same.pcap"], vec!["same", "same"]),
            (vec!["-"], vec!["-"]),
            (vec![""], vec!["capture"]),
            (vec![".pcap"], vec![".pcap"]),
            // A byte that is no UTF-8, as names are shown.
            #[cfg(not(windows))]
            (vec![r"a/lat\xe9.pcap"], vec![r"lat\xe9"]),
        ] {
            assert_eq!(capture_names(&paths, 1), names, "{paths:?}");
        }
        assert_eq!(
            capture_names(&["runs/a/egress.pcap", "f.pcap"], 2),
            ["a/egress", "f"]
        );
    }

    #[test]
    fn ports_are_named_only_where_they_tell_flows_apart() {
        let end = |host: u8, port: u16| Endpoint::v4([10, 0, 0, host], port);
        let server = |host| end(host, 5001);
        let client = |port| end(9, port);
        for (ends, names) in [
            (vec![(server(1), client(7))], vec!["10.0.0.1 → 10.0.0.9"]),
            (
                vec![(server(1), client(7)), (client(7), server(1))],
                vec!["10.0.0.1 → 10.0.0.9", "10.0.0.9 → 10.0.0.1"],
            ),
            (
                vec![(server(1), client(7)), (server(1), client(8))],
                vec!["10.0.0.1 → 10.0.0.9:7", "10.0.0.1 → 10.0.0.9:8"],
            ),
            // Both ends would do: the server's says what ran there.
            (
                vec![(end(1, 5201), client(50348)), (end(1, 5202), client(50352))],
                vec!["10.0.0.1:5201 → 10.0.0.9", "10.0.0.1:5202 → 10.0.0.9"],
            ),
            (
                vec![(client(50348), end(1, 5201)), (client(50352), end(1, 5202))],
                vec!["10.0.0.9 → 10.0.0.1:5201", "10.0.0.9 → 10.0.0.1:5202"],
            ),
            (
                vec![(server(1), client(7)), (server(1), client(7))],
                vec![
                    "10.0.0.1:5001 → 10.0.0.9:7",
                    "10.0.0.1:5001 → 10.0.0.9:7 (#2)",
                ],
            ),
        ] {
            let found: Vec<String> = names_of_ends(&ends)
                .iter()
                .map(FlowName::to_string)
                .collect();
            assert_eq!(found, names);
        }
    }

    #[test]
    fn of_two_ports_that_tell_flows_apart_the_one_that_answered_the_syn_is_named() {
        let end = |host: u8, port: u16| Endpoint::v4([10, 0, 0, host], port);
        let of = |server_port: u16, client_port: u16, is_src_server: Option<bool>| {
            let flow = FlowEnds::between(end(1, server_port), end(9, client_port));
            FlowEnds {
                is_src_server,
                ..flow
            }
        };
        let named = |flows: [FlowEnds; 2]| -> Vec<String> {
            flow_names(&flows).iter().map(FlowName::to_string).collect()
        };
        let servers = ["10.0.0.1:50001 → 10.0.0.9", "10.0.0.1:50002 → 10.0.0.9"];
        let known = [of(50001, 4001, Some(true)), of(50002, 4002, Some(true))];
        assert_eq!(named(known.clone()), servers);
        let clients = ["10.0.0.1 → 10.0.0.9:4001", "10.0.0.1 → 10.0.0.9:4002"];
        assert_eq!(
            named(
                known
                    .clone()
                    .map(|flow| of(flow.src.port(), flow.dst.port(), None))
            ),
            clients
        );
        // Of a download beside an upload either is named by its own server.
        let upload = FlowEnds {
            is_src_server: Some(false),
            ..FlowEnds::between(end(1, 50003), end(9, 4003))
        };
        let names = ["10.0.0.1:50001 → 10.0.0.9", "10.0.0.1 → 10.0.0.9:4003"];
        assert_eq!(named([known[0].clone(), upload]), names);
    }

    #[test]
    fn flows_have_the_names_that_they_were_given_and_the_others_the_ports_that_these_take() {
        let end = |host: u8, port: u16| Endpoint::v4([10, 0, 0, host], port);
        let flow = |client_port: u16, called: Option<&str>| FlowEnds {
            called: called.map(Arc::from),
            ..FlowEnds::between(end(1, 5001), end(2, client_port))
        };
        let flows = [
            flow(4001, Some("bbr")),
            flow(4002, None),
            flow(4003, Some("bbr")),
            flow(4004, Some("cubic")),
        ];
        let names = flow_names(&flows);
        let words = ["bbr", "10.0.0.1 → 10.0.0.2", "bbr (#2)", "cubic"];
        let found: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(found, words);
        // Beside names nothing is left out that all ends have in common.
        let words: Vec<String> = words.map(str::to_owned).to_vec();
        assert_eq!(apart(names.iter()), (words, None));
    }

    #[test]
    fn what_flows_are_of_tells_them_apart_before_ports_and_numbers_do() {
        let end = |host: u8, port: u16| Endpoint::v4([10, 0, 0, host], port);
        let (tcp, udp) = (false, true);
        let named = |flows: &[(u16, bool)]| -> Vec<String> {
            let flows = flows.iter().map(|&(port, is_udp)| FlowEnds {
                is_udp,
                ..FlowEnds::between(end(1, 443), end(9, port))
            });
            let flows: Vec<FlowEnds> = flows.collect();
            flow_names(&flows).iter().map(FlowName::to_string).collect()
        };
        let (one, of_udp) = ("10.0.0.1 → 10.0.0.9", "10.0.0.1 → 10.0.0.9 (UDP)");
        assert_eq!(named(&[(7, tcp), (7, udp)]), [one, of_udp]);
        assert_eq!(named(&[(7, udp), (8, tcp)]), [of_udp, one]);
        // Each is numbered among its own.
        assert_eq!(
            named(&[(7, tcp), (7, udp), (7, udp)]),
            [
                "10.0.0.1:443 → 10.0.0.9:7",
                "10.0.0.1:443 → 10.0.0.9:7 (UDP)",
                "10.0.0.1:443 → 10.0.0.9:7 (UDP) (#2)",
            ]
        );
    }

    #[test]
    fn an_end_that_all_flows_share_is_named_once() {
        let end = |host: u8, port: u16| Endpoint::v4([10, 0, 0, host], port);
        let of = |ends: &[(Endpoint, Endpoint)]| apart(names_of_ends(ends).iter());
        let download = [(end(1, 80), end(9, 7)), (end(2, 80), end(9, 7))];
        let names = ["10.0.0.1", "10.0.0.2"].map(String::from).to_vec();
        let shared = Some("all to 10.0.0.9".to_owned());
        assert_eq!(of(&download), (names.clone(), shared));
        let upload = download.map(|(src, dst)| (dst, src));
        let shared = Some("all from 10.0.0.9".to_owned());
        assert_eq!(of(&upload), (names, shared));
        let (names, shared) = of(&[download[0], upload[1]]);
        assert_eq!(names, ["10.0.0.1 → 10.0.0.9", "10.0.0.9 → 10.0.0.2"]);
        assert_eq!(shared, None);
        // The same ports again.
        let (names, _) = of(&[download[0], download[0]]);
        assert_eq!(names, ["10.0.0.1:80", "10.0.0.1:80 (#2)"]);
    }

    #[test]
    fn long_ipv6_addresses_keep_what_tells_them_apart() {
        let end = |text: &str| Endpoint::v6(text.parse::<Ipv6Addr>().unwrap().octets(), 80);
        let named = |ends: &[(&str, &str)]| -> Vec<String> {
            let ends: Vec<_> = ends.iter().map(|(a, b)| (end(a), end(b))).collect();
            let names = names_of_ends(&ends);
            names.iter().map(FlowName::to_string).collect()
        };
        let server = "2001:db8:1234:5678:9abc::1001";
        assert_eq!(
            named(&[
                (server, "2001:db8:ffff:eeee:dddd::aaaa"),
                (server, "fd77::1")
            ]),
            ["2001:…:1001 → 2001:…:aaaa", "2001:…:1001 → fd77::1"]
        );
        // Two hosts of the same number in two networks need more of their addresses.
        assert_eq!(
            named(&[(server, "2001:db8:1234:5678:9abd::1001")]),
            ["2001:…:9abc:0:0:1001 → 2001:…:9abd:0:0:1001"]
        );
        assert_eq!(
            named(&[("0:1:2:3:4:5:6:7", "2001:db8:1234:5678:9abc::1")]),
            ["0:1:2:3:4:5:6:7 → 2001:…:1"]
        );
    }
}

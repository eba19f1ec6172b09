//! Expressions, and what they keep.

use super::*;

fn endpoint(text: &str) -> Endpoint {
    let (address, port) = text.rsplit_once('@').unwrap();
    let octets = match address.parse().unwrap() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    Endpoint::v6(octets, port.parse().unwrap())
}

fn keeps(filter: &str, src: &str, dst: &str) -> bool {
    Filter::parse(filter)
        .unwrap()
        .keeps(&endpoint(src), &endpoint(dst))
}

#[test]
fn filters_without_sides_keep_both_directions() {
    let (a, b) = ("10.1.2.3@5001", "192.168.0.9@40000");
    for (filter, expected) in [
        ("host 10.1.2.3", true),
        ("10.1.2.3", true),
        ("10.1.2.4", false),
        ("net 10.0.0.0/8", true),
        ("10.1.2.0/24 and port 5001", true),
        ("192.168.0.9/32 and not port 5001", false),
        ("0.0.0.0/0", true),
        ("net 10", true),
        ("net 10.1", true),
        ("net 10.2", false),
        ("net 192 and net 10.1.2.3", true),
        ("net 10.1.2.4", false),
        ("net 10/9", true),
        ("net 10.128/9", false),
        ("10/8", true),
        ("net 11 or 10.1", true),
        ("net 10 mask 255.255", false),
        ("net 10.1.0.0 mask 255.255.0.0", true),
        ("net 10.0.2.0 mask 255.0.255.0", true),
        ("src or dst host 10.1.2.3", true),
        ("dst or src port 5001", true),
        ("src and dst port 5001", false),
        ("src and dst portrange 5000-40000", true),
        ("dst and src net 10.1.2.0/24", false),
        ("port 5001 and src or dst net 192.168", true),
        ("src or dst port 80 or 5001", true),
        ("::/0", false),
        ("ip", true),
        ("ip6", false),
        ("! ip6", true),
        ("tcp port 5001", true),
        ("ip6 port 5001", false),
        ("ip port 40000", true),
        ("portrange 5000-5010", true),
        ("portrange 5002-5010", false),
        ("port 80 or 443 or 5001", true),
        ("port 80 or 443", false),
        ("not (port 80 || port 443)&&!host 10.1.2.3", false),
        ("port 5001 or port 80 and port 443", false),
        ("port 5001 or (port 80 and port 443)", true),
        ("not not tcp", true),
    ] {
        assert_eq!(keeps(filter, a, b), expected, "{filter}");
        assert_eq!(keeps(filter, b, a), expected, "{filter} the other way");
    }
}

#[test]
fn sides_cut_a_direction_away() {
    let (a, b) = ("2001:db8::1@80", "2001:db8:1::2@40000");
    for (filter, there, back) in [
        ("src host 2001:db8::1", true, false),
        ("dst net 2001:db8:1::/48", true, false),
        ("src port 40000", false, true),
        ("dst portrange 0-100", false, true),
        ("src 2001:db8::1", true, false),
        ("src 2001:db8::7 or 2001:db8::1", true, false),
    ] {
        assert_eq!(keeps(filter, a, b), there, "{filter}");
        assert_eq!(keeps(filter, b, a), back, "{filter} the other way");
    }
}

#[test]
fn pings_have_addresses_and_no_ports() {
    let [a, b]: [IpAddr; 2] = ["10.1.2.3", "10.1.2.9"].map(|address| address.parse().unwrap());
    for (filter, there, back) in [
        ("host 10.1.2.3", true, true),
        ("src 10.1.2.3", true, false),
        ("net 10.1.3.0/24", false, false),
        ("ip", true, true),
        ("ip6", false, false),
        // As tcpdump has it: a port is TCP's, UDP's or SCTP's.
        ("port 443", false, false),
        ("portrange 0-65535", false, false),
        ("host 10.1.2.3 and port 443", false, false),
        ("host 10.1.2.3 and not port 443", true, true),
        ("tcp", false, false),
        ("tcp host 10.1.2.3", false, false),
        ("not tcp", true, true),
        ("udp", false, false),
    ] {
        let filter = Filter::parse(filter).unwrap();
        assert_eq!(filter.keeps_ping(a, b), there, "{filter:?}");
        assert_eq!(filter.keeps_ping(b, a), back, "{filter:?} the other way");
    }
}

#[test]
fn tcp_and_udp_are_told_apart() {
    let [a, b] = [3, 9].map(|host| Endpoint::v4([10, 1, 2, host], 443));
    for (filter, tcp, udp) in [
        ("tcp", true, false),
        ("udp", false, true),
        ("not udp", true, false),
        ("port 443", true, true),
        ("tcp port 443", true, false),
        ("udp port 443", false, true),
        ("udp port 80", false, false),
        ("udp and host 10.1.2.3", false, true),
        ("tcp or udp", true, true),
        ("ip", true, true),
    ] {
        let filter = Filter::parse(filter).unwrap();
        assert_eq!(filter.keeps(&a, &b), tcp, "{filter:?}");
        assert_eq!(filter.keeps_datagram(&a, &b), udp, "{filter:?}");
    }
}

/// SCTP has ports, and neither a later fragment nor ICMP has some.
#[test]
fn packets_of_any_protocol_are_told_apart() {
    let [a, b] = [3, 9].map(|host| Endpoint::v4([10, 1, 2, host], 443));
    let packets = [(6, true), (6, false), (17, true), (132, true), (1, false)];
    for (filter, kept) in [
        ("tcp", [true, true, false, false, false]),
        ("not tcp", [false, false, true, true, true]),
        ("udp", [false, false, true, false, false]),
        ("port 443", [true, false, true, true, false]),
        ("tcp port 443", [true, false, false, false, false]),
        ("not port 443", [false, true, false, false, true]),
        ("host 10.1.2.3", [true; 5]),
        ("ip6", [false; 5]),
    ] {
        let filter = Filter::parse(filter).unwrap();
        let keeps = |(protocol, has_ports)| filter.keeps_packet(protocol, has_ports, &a, &b);
        assert_eq!(packets.map(keeps), kept, "{filter:?}");
    }
}

#[test]
fn errors_point_at_the_word_and_say_what_was_expected() {
    for (filter, expected) in [
        ("", "column 1: expected a host, net or port, found the end"),
        ("port", "column 5: expected a port number, found the end"),
        (
            "port http",
            "column 6: expected a port number, found `http`",
        ),
        (
            "port 80 port 81",
            "column 9: expected `and`, `or` or the end, found `port`",
        ),
        (
            "(port 80",
            "column 9: expected `and`, `or` or `)`, found the end",
        ),
        (
            "host 10.0.0",
            "column 6: expected an IP address, found `10.0.0`",
        ),
        (
            "net 10.0.0.0/33",
            "column 5: expected a network like 10.0.0.0/8 or 2001:db8::/32, found `10.0.0.0/33`",
        ),
        (
            "net 10.0.0.0/8 mask 255.0.0.0",
            "column 16: expected `and`, `or` or the end, found `mask`",
        ),
        (
            "net 10 mask 255.0.0.256",
            "column 13: expected a mask like 255.255.0.0, found `255.0.0.256`",
        ),
        (
            "net 10.0.0.0.0",
            "column 5: expected a network like 10.0.0.0/8 or 2001:db8::/32, found `10.0.0.0.0`",
        ),
        (
            "src or port 80",
            "column 5: expected `host`, `net`, `port`, `portrange` or an address, found `or`",
        ),
        (
            "portrange 9-1",
            "column 11: expected a range of ports like 5000-5010, found `9-1`",
        ),
        (
            "sctp",
            "column 1: expected `host`, `net`, `port`, `portrange` or an address, found `sctp`; filters are over addresses and ports of TCP and UDP: leave other packets out with tcpdump (`tcpdump -r IN -w OUT EXPRESSION`)",
        ),
        (
            "ip and 80 ",
            "column 8: expected `host`, `net`, `port`, `portrange` or an address, found `80`",
        ),
        (
            "port 80 &",
            "column 9: expected `and`, `or` or the end, found `&`",
        ),
    ] {
        assert_eq!(Filter::parse(filter).unwrap_err().to_string(), expected);
    }
    for (filter, is_for_display) in [
        ("tcp.port == 443", true),
        ("ip.addr==10.0.0.1 && tcp", true),
        ("tcp == 443", true),
        ("host 10.0.0", false),
        ("host example.com", false),
        ("network 10.0.0.0/8", false),
        ("port http", false),
        ("ether host 2:0:0:0:0:1", false),
    ] {
        let error = Filter::parse(filter).unwrap_err().to_string();
        assert_eq!(error.contains("Wireshark"), is_for_display, "{error}");
    }
    for (filter, is_of_others) in [
        ("tcp[13] & 2 != 0", true),
        ("vlan 5", true),
        ("port http", false),
        ("host example.com", false),
    ] {
        let error = Filter::parse(filter).unwrap_err().to_string();
        assert_eq!(error.contains("ports of TCP"), is_of_others, "{error}");
    }
    assert!(Filter::parse(&"(".repeat(1000)).is_err());
}

#[test]
fn long_expressions_are_read_in_one_pass() {
    // So long that counting what is left for each word would take minutes.
    const LONG: usize = 1_000_000;
    let at = |text: &str| Filter::parse(text).map_err(|error| error.column);
    assert_eq!(at(&"(".repeat(LONG)), Err(33));
    assert_eq!(at(&"!".repeat(LONG)), Err(LONG + 1));
    // Columns count characters, of words and between them.
    let spaced = "\u{2003}! ".repeat(LONG / 4) + "hös";
    assert_eq!(at(&spaced), Err(LONG / 4 * 3 + 1));
    let alternatives = "port 1".to_owned() + &" or 2".repeat(LONG / 4) + " or";
    assert_eq!(at(&alternatives), Err(alternatives.len() + 1));
}

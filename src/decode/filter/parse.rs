//! Reading an expression, word by word.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use super::{Filter, Group, Join, Operand, Side, Term, Test, Version, What};
use crate::decode::Transport;

/// Parentheses within parentheses: reading and asking recurse this deep.
const PARENTHESES_MAX: usize = 32;

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// Says where it could not be read on, and what was expected there.
    pub fn parse(expression: &str) -> Result<Self, FilterError> {
        let tokens = tokens(expression);
        let mut parser = Parser {
            tokens: &tokens,
            at: 0,
            last: None,
        };
        let root = parser.group(0)?;
        match parser.peek() {
            None => Ok(Self { root }),
            Some(_) => Err(parser.error("`and`, `or` or the end")),
        }
    }
}

/// By [`Filter::parse`].
impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(expression: &str) -> Result<Self, FilterError> {
        Self::parse(expression)
    }
}

/// Why an expression is not a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct FilterError {
    /// Where it went wrong, in characters from 1.
    pub column: usize,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there; `None` at the end of the expression.
    pub found: Option<String>,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "column {}: expected {}, found ",
            self.column, self.expected
        )?;
        match &self.found {
            Some(found) => write!(f, "`{found}`")?,
            None => f.write_str("the end")?,
        }
        let found = self.found.as_deref();
        if found.is_some_and(is_of_others) {
            f.write_str(
                "; filters are over addresses and ports of TCP and UDP: leave other packets out with tcpdump (`tcpdump -r IN -w OUT EXPRESSION`)",
            )?;
        }
        if found.is_some_and(is_for_display) {
            f.write_str(
                "; filters are written as for tcpdump (`host 10.0.0.1 and port 443`), not as Wireshark's display filters",
            )?;
        }
        Ok(())
    }
}

/// Whether a word is one of tcpdump, pcap-filter(7), that is about something else than addresses and ports of TCP.
fn is_of_others(word: &str) -> bool {
    const WORDS: [&str; 17] = [
        "arp",
        "broadcast",
        "ether",
        "gateway",
        "greater",
        "icmp",
        "icmp6",
        "inbound",
        "less",
        "mpls",
        "multicast",
        "outbound",
        "pppoes",
        "proto",
        "protochain",
        "sctp",
        "vlan",
    ];
    WORDS.contains(&word) || word.split_once('[').is_some_and(|(of, _)| !of.is_empty())
}

/// Whether a word is of a display filter, wireshark-filter(4): a field, or a comparison.
fn is_for_display(word: &str) -> bool {
    const PROTOCOLS: [&str; 8] = ["eth", "frame", "http", "ip", "ipv6", "tcp", "tls", "udp"];
    let is_field = |(protocol, _): (&str, &str)| PROTOCOLS.contains(&protocol);
    word.split_once('.').is_some_and(is_field)
        || word.contains("==")
        || word.starts_with("!=")
        || ["eq", "ne", "contains", "matches"].contains(&word)
}

struct Token<'a> {
    text: &'a str,
    column: usize,
}

fn tokens(expression: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_end();
    let mut column = 1;
    loop {
        let trimmed = rest.trim_start();
        // Of the rest nothing is counted, which may be long.
        column += rest[..rest.len() - trimmed.len()].chars().count();
        rest = trimmed;
        let len = match rest.chars().next() {
            None => break,
            Some('(' | ')' | '!') => 1,
            Some('&') if rest.starts_with("&&") => 2,
            Some('|') if rest.starts_with("||") => 2,
            Some(first) => {
                let start = first.len_utf8();
                rest[start..]
                    .find(|c: char| c.is_whitespace() || "()!&|".contains(c))
                    .map_or(rest.len(), |at| start + at)
            }
        };
        let (text, behind) = rest.split_at(len);
        tokens.push(Token { text, column });
        column += text.chars().count();
        rest = behind;
    }
    // A last one to point at when something is missing.
    tokens.push(Token { text: "", column });
    tokens
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// Side and kind of the last primitive, for values that follow without keywords.
    last: Option<(Side, Kind)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Host,
    Net,
    Port,
    PortRange,
}

impl<'a> Parser<'a> {
    fn group(&mut self, depth: usize) -> Result<Group, FilterError> {
        let mut terms = Vec::new();
        let mut join = Join::Or;
        loop {
            let mut negated = false;
            while self.take(&["not", "!"]) {
                negated = !negated;
            }
            let operand = if self.peek() == Some("(") {
                if depth == PARENTHESES_MAX {
                    return Err(self.error("fewer parentheses"));
                }
                self.at += 1;
                let group = self.group(depth + 1)?;
                if !self.take(&[")"]) {
                    return Err(self.error("`and`, `or` or `)`"));
                }
                Operand::Group(group)
            } else {
                Operand::Test(self.primitive()?)
            };
            terms.push(Term {
                join,
                negated,
                operand,
            });
            join = if self.take(&["and", "&&"]) {
                Join::And
            } else if self.take(&["or", "||"]) {
                Join::Or
            } else {
                return Ok(Group { terms });
            };
        }
    }

    fn primitive(&mut self) -> Result<Test, FilterError> {
        let version = match self.peek() {
            Some("ip") => Some(Version::V4),
            Some("ip6") => Some(Version::V6),
            _ => None,
        };
        let transports = [Transport::Tcp, Transport::Udp];
        let transport = transports
            .into_iter()
            .find(|one| self.peek() == Some(one.name()));
        if self.take(&["ip", "ip6", "tcp", "udp"])
            && !matches!(
                self.peek(),
                Some("src" | "dst" | "host" | "net" | "port" | "portrange")
            )
        {
            return Ok(Test {
                version,
                transport,
                side: Side::Either,
                what: What::Anything,
            });
        }
        let side = self.side();
        let kind = match self.peek() {
            Some("host") => Some(Kind::Host),
            Some("net") => Some(Kind::Net),
            Some("port") => Some(Kind::Port),
            Some("portrange") => Some(Kind::PortRange),
            _ => None,
        };
        self.at += usize::from(kind.is_some());
        let (side, kind) = self.qualifiers(side, kind)?;
        self.last = Some((side, kind));
        Ok(Test {
            version,
            transport,
            side,
            what: self.value(kind)?,
        })
    }

    /// `src`, `dst`, or both of them with a word between, which joins no primitives here.
    fn side(&mut self) -> Option<Side> {
        let first = self.take_side()?;
        let join = self.at;
        let side = if self.take(&["and"]) {
            Side::Both
        } else if self.take(&["or"]) {
            Side::Either
        } else {
            return Some(first);
        };
        match self.take_side() {
            Some(second) if second != first => Some(side),
            _ => {
                self.at = join;
                Some(first)
            }
        }
    }

    fn take_side(&mut self) -> Option<Side> {
        if self.take(&["src"]) {
            Some(Side::Src)
        } else if self.take(&["dst"]) {
            Some(Side::Dst)
        } else {
            None
        }
    }

    /// Side and kind of the value that comes next: as said, or else as said last, or else by what
    /// it looks like.
    fn qualifiers(
        &self,
        side: Option<Side>,
        kind: Option<Kind>,
    ) -> Result<(Side, Kind), FilterError> {
        if let Some(kind) = kind {
            return Ok((side.unwrap_or(Side::Either), kind));
        }
        let Some(value) = self.peek() else {
            return Err(self.error("a host, net or port"));
        };
        let is_address = value.contains([':', '.', '/']);
        let is_first_numbers =
            || value.parse::<IpAddr>().is_err() && first_numbers(value).is_some();
        let kind = match (is_address, self.last) {
            (true, _) if value.contains('/') => Kind::Net,
            (_, Some((_, Kind::Net))) if is_first_numbers() => Kind::Net,
            (true, _) => Kind::Host,
            (false, Some((_, Kind::Port | Kind::PortRange))) if value.contains('-') => {
                Kind::PortRange
            }
            (false, Some((_, Kind::Port | Kind::PortRange))) => Kind::Port,
            (false, _) => {
                return Err(self.error("`host`, `net`, `port`, `portrange` or an address"));
            }
        };
        let is_of_addresses = |kind| matches!(kind, Kind::Host | Kind::Net);
        let as_before = match self.last {
            Some((side, last)) if is_of_addresses(last) == is_of_addresses(kind) => side,
            _ => Side::Either,
        };
        Ok((side.unwrap_or(as_before), kind))
    }

    fn value(&mut self, kind: Kind) -> Result<What, FilterError> {
        let text = self.peek().unwrap_or_default();
        let (what, expected) = match kind {
            Kind::Host => (text.parse().ok().map(What::host), "an IP address"),
            Kind::Net => (
                parse_net(text),
                "a network like 10.0.0.0/8 or 2001:db8::/32",
            ),
            Kind::Port => (
                text.parse().ok().map(|port| What::Ports {
                    first: port,
                    last: port,
                }),
                "a port number",
            ),
            Kind::PortRange => (parse_range(text), "a range of ports like 5000-5010"),
        };
        let what = what.ok_or_else(|| self.error(expected))?;
        self.at += 1;
        match first_numbers(text) {
            Some((address, _)) if kind == Kind::Net && self.take(&["mask"]) => self.masked(address),
            _ => Ok(what),
        }
    }

    /// The network of an address and the mask that comes next.
    fn masked(&mut self, address: Ipv4Addr) -> Result<What, FilterError> {
        let Some((mask, _)) = self.peek().and_then(first_numbers) else {
            return Err(self.error("a mask like 255.255.0.0"));
        };
        self.at += 1;
        let before = !u128::from(u32::MAX);
        Ok(What::masked(
            address.into(),
            before | u128::from(mask.to_bits()),
        ))
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens
            .get(self.at)
            .map(|token| token.text)
            .filter(|text| !text.is_empty())
    }

    fn take(&mut self, any_of: &[&str]) -> bool {
        let is_there = self.peek().is_some_and(|text| any_of.contains(&text));
        self.at += usize::from(is_there);
        is_there
    }

    fn error(&self, expected: &'static str) -> FilterError {
        FilterError {
            column: self.tokens.get(self.at).map_or(1, |token| token.column),
            expected,
            found: self.peek().map(str::to_owned),
        }
    }
}

fn parse_net(text: &str) -> Option<What> {
    let Some((address, len)) = text.split_once('/') else {
        return match first_numbers(text) {
            Some((address, len)) => What::net(address.into(), len),
            None => text.parse().ok().map(What::host),
        };
    };
    let len = len.parse().ok()?;
    match first_numbers(address) {
        Some((address, _)) => What::net(address.into(), len),
        None => What::net(address.parse().ok()?, len),
    }
}

/// An IPv4 address of which the last numbers may be left out (they are 0), and how many bits are said.
fn first_numbers(text: &str) -> Option<(Ipv4Addr, u32)> {
    let mut octets = [0; 4];
    let mut said = 0;
    for number in text.split('.') {
        *octets.get_mut(said)? = number.parse().ok()?;
        said += 1;
    }
    Some((octets.into(), 8 * said as u32))
}

fn parse_range(text: &str) -> Option<What> {
    let (first, last) = text.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(What::Ports { first, last })
}

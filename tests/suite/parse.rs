//! The language of the traces; `testdata/suite/README.md` describes it.

use std::ops::Range;

use super::script::{
    Expected, Fate, Fated, Host, Ids, KnownWrong, Leg, Script, Spell, Step, Undecided, VANTAGES,
    What,
};

/// Packets that a network card cuts from one super-segment follow each other so closely: 1 Gbit/s.
const SPACING_NS: i64 = 12_000;

type Parsed<T> = Result<T, String>;

/// Reads a trace.
pub(crate) fn script(name: &str, text: &str) -> Parsed<Script> {
    let mut script = Script::new(name);
    let mut groups = 0;
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        if let Some(comment) = line.strip_prefix('#') {
            if script.about.is_empty() {
                comment.trim().clone_into(&mut script.about);
            }
            continue;
        }
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let first = line.split(' ').next().unwrap_or_default();
        let done = if first.starts_with(|c: char| c.is_ascii_digit()) {
            steps(&mut script, line, number, &mut groups)
        } else {
            property(&mut script, first, line[first.len()..].trim())
        };
        done.map_err(|error| format!("line {number}: {error}: {line}"))?;
    }
    if script.about.is_empty() {
        return Err("no comment line says what happens".to_owned());
    }
    // The sort is stable: what is written first at one instant is emitted first.
    script.steps.sort_by_key(|step| step.at_ns);
    Ok(script)
}

fn property(script: &mut Script, key: &str, rest: &str) -> Parsed<()> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match (key, words.as_slice()) {
        ("ip", ["v4", "counting"]) => script.ids = Ids::Counting,
        ("ip", ["v4", "shared"]) => script.ids = Ids::Shared,
        ("ip", ["v4", "zero"]) => script.ids = Ids::Zero,
        ("ip", ["v4", "random"]) => script.ids = Ids::Random,
        ("last-ids", [a, b]) => script.last_ids = [number(a)?, number(b)?],
        ("ip", ["v6"]) => script.ids = Ids::Absent,
        ("options", words) => options(script, words)?,
        ("ecn", []) => script.ecn = true,
        ("segment", [bytes]) => script.segment = number(bytes)?,
        ("isn", [a, b]) => script.isn = [number(a)?, number(b)?],
        ("delay", [a, b]) => script.delay_ns = [[time(a)?, time(b)?], [time(b)?, time(a)?]],
        ("delay", [am, mb, bm, ma]) => {
            script.delay_ns = [[time(am)?, time(mb)?], [time(bm)?, time(ma)?]];
        }
        ("acks", ["none"]) => script.answers = false,
        ("acks", ["every", n]) => script.ack_every = number(n)?,
        ("acks", ["every", n, "within", t]) => {
            script.ack_every = number(n)?;
            script.ack_within_ns = time(t)?;
        }
        ("turn", [t]) => script.turn_ns = time(t)?,
        ("window", [bytes]) => script.window = number(bytes)?,
        ("capture", ["only", name]) => script.captured.only = Some(host(name)?),
        ("capture", ["from", t]) => script.captured.from_ns = time(t)?,
        ("capture", ["without", ranges @ ..]) => {
            for range in ranges {
                let range = span(range)?;
                let bytes = i64::from(script.segment);
                let dropped = &mut script.captured.dropped;
                dropped.push(range.start * bytes..range.end * bytes);
            }
        }
        ("path", [name, span, rest @ ..]) => {
            let (from, until) = span.split_once("..").ok_or("no span")?;
            let (fated, rest) = fate(rest)?;
            nothing(rest)?;
            script.spells.push(Spell {
                host: host(name)?,
                from_ns: time(from)?,
                until_ns: time(until)?,
                fated,
            });
        }
        ("expect", _) => {
            let (vantages, flow, rest) = place(&words)?;
            for pair in rest.chunks(2) {
                let [field, value] = pair else {
                    return Err("a field without a value".to_owned());
                };
                script
                    .expected
                    .extend(vantages.clone().map(|vantage| Expected {
                        vantage,
                        flow,
                        field: (*field).to_owned(),
                        value: (*value).to_owned(),
                    }));
            }
        }
        ("undecided", _) => {
            let (head, reason) = rest.split_once(": ").ok_or("no reason")?;
            let twin = reason.strip_prefix("same packets as ").map(str::to_owned);
            let words: Vec<&str> = head.split_whitespace().collect();
            let (vantages, flow, rest) = place(&words)?;
            for pair in rest.chunks(2) {
                let [field, value] = pair else {
                    return Err("a field without a value".to_owned());
                };
                script
                    .undecided
                    .extend(vantages.clone().map(|vantage| Undecided {
                        vantage,
                        flow,
                        field: (*field).to_owned(),
                        value: (*value).to_owned(),
                        twin: twin.clone(),
                    }));
            }
        }
        ("known-wrong", _) => {
            let (head, reason) = rest.split_once(": ").ok_or("no reason")?;
            let words: Vec<&str> = head.split_whitespace().collect();
            let (vantages, flow, fields) = place(&words)?;
            for field in fields {
                script
                    .known_wrong
                    .extend(vantages.clone().map(|vantage| KnownWrong {
                        vantage,
                        flow,
                        field: (*field).to_owned(),
                        reason: reason.to_owned(),
                    }));
            }
        }
        _ => return Err("not understood".to_owned()),
    }
    Ok(())
}

fn options(script: &mut Script, words: &[&str]) -> Parsed<()> {
    script.timestamps = false;
    script.sack = false;
    script.window_scale = None;
    for word in words {
        match *word {
            "none" => {}
            "timestamps" => script.timestamps = true,
            "sack" => script.sack = true,
            word => {
                let shift = word.strip_prefix("scale=").ok_or("not an option")?;
                script.window_scale = Some(number(shift)?);
            }
        }
    }
    Ok(())
}

/// A range of vantage points, a flow, and the words that follow.
type Place<'w> = (Range<usize>, (usize, Host), &'w [&'w str]);

/// `VANTAGE [B] [second]`: which vantage points, and which flow when it is not A's first.
fn place<'w>(words: &'w [&'w str]) -> Parsed<Place<'w>> {
    let (&vantage, mut rest) = words.split_first().ok_or("no vantage point")?;
    let vantages = if vantage == "all" {
        0..VANTAGES.len()
    } else {
        let index = VANTAGES.iter().position(|&name| name == vantage);
        let index = index.ok_or("not a vantage point")?;
        index..index + 1
    };
    let mut flow = (0, Host::A);
    while let Some((&word, after)) = rest.split_first() {
        match word {
            "B" => flow.1 = Host::B,
            "second" => flow.0 = 1,
            _ => break,
        }
        rest = after;
    }
    Ok((vantages, flow, rest))
}

/// `TIME HOST WHAT...[; FATE [WHICH...]]...`
fn steps(script: &mut Script, line: &str, number: usize, groups: &mut usize) -> Parsed<()> {
    let mut clauses = line.split(';');
    let head: Vec<&str> = clauses
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let [at, name, what, rest @ ..] = head.as_slice() else {
        return Err("a step has a time, a host and an action".to_owned());
    };
    let mut step = Step {
        at_ns: time(at)?,
        host: host(name)?,
        what: What::Ack,
        rtx: false,
        fin: false,
        cwr: false,
        urg: false,
        group: None,
        fates: Vec::new(),
        line: number,
    };
    let mut every_ns = 0;
    let mut together = 1;
    let mut rest = rest;
    let which;
    (step.what, which, rest) = action(script, what, rest)?;
    let data = *what == "data";
    while let Some((&word, after)) = rest.split_first() {
        rest = after;
        match (word, after) {
            ("rtx", _) => step.rtx = true,
            ("fin", _) => step.fin = true,
            ("cwr", _) => step.cwr = true,
            ("urg", _) => step.urg = true,
            ("every", [t, after @ ..]) => {
                every_ns = time(t)?;
                rest = after;
            }
            ("super", [n, after @ ..]) => {
                together = self::number(n)?;
                rest = after;
            }
            _ => return Err(format!("{word} not understood")),
        }
    }
    let mut fates: Vec<(Fated, Vec<Range<i64>>)> = Vec::new();
    for clause in clauses {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let (fated, rest) = fate(&words)?;
        let ranges = rest.iter().map(|word| span(word)).collect::<Parsed<_>>()?;
        fates.push((fated, ranges));
    }
    for (place, index) in which.enumerate() {
        let mut step = step.clone();
        let place = place as i64;
        step.at_ns += place / together * every_ns + place % together * SPACING_NS;
        if data {
            step.what = What::Data(index * i64::from(script.segment), script.segment);
        }
        if together > 1 {
            *groups += usize::from(place % together == 0);
            step.group = Some(*groups);
        }
        step.fates = fates
            .iter()
            .filter(|(_, ranges)| {
                ranges.is_empty() || ranges.iter().any(|range| range.contains(&index))
            })
            .map(|&(fated, _)| fated)
            .collect();
        script.steps.push(step);
    }
    Ok(())
}

/// What a host does, to which segments, and the words that follow.
type Action<'w> = (What, Range<i64>, &'w [&'w str]);

fn action<'w>(script: &Script, what: &str, rest: &'w [&'w str]) -> Parsed<Action<'w>> {
    let mut rest = rest;
    let mut which = 0..1;
    let what = match (what, rest) {
        ("syn-data", [bytes, after @ ..]) => {
            rest = after;
            What::SynData(number(bytes)?)
        }
        ("syn", _) => What::Syn,
        ("syn-ack", _) => What::SynAck,
        ("ack", _) => What::Ack,
        ("fin", _) => What::Fin,
        ("rst", _) => What::Rst,
        ("keepalive", [bytes, after @ ..]) => {
            rest = after;
            What::KeepAlive(number(bytes)?)
        }
        ("probe", [bytes, after @ ..]) => {
            rest = after;
            What::Probe(number(bytes)?)
        }
        ("window", [bytes, after @ ..]) => {
            rest = after;
            What::Window(number(bytes)?)
        }
        ("connection", [a, b, after @ ..]) => {
            rest = after;
            What::Incarnation(number(a)?, number(b)?)
        }
        ("bytes", [range, after @ ..]) => {
            rest = after;
            let (start, len) = range.split_once('+').ok_or("bytes are START+LENGTH")?;
            What::Data(number(start)?, number(len)?)
        }
        ("data", [range, after @ ..]) => {
            rest = after;
            which = span(range)?;
            What::Data(0, script.segment)
        }
        _ => return Err("not an action".to_owned()),
    };
    Ok((what, which, rest))
}

/// `lost up WHICH...`, `late down WHICH... by 3ms`, `twice up WHICH... after 50us`,
/// `held up WHICH... until 3s`, `ce down WHICH...`; all, where it does not say which.
fn fate<'w>(words: &'w [&'w str]) -> Parsed<(Fated, &'w [&'w str])> {
    let [name, leg, rest @ ..] = words else {
        return Err("not a fate".to_owned());
    };
    let (fate, rest) = match (*name, rest) {
        ("lost", rest) => (Fate::Lost, rest),
        ("ce", rest) => (Fate::Ce, rest),
        ("late", [rest @ .., "by", t]) => (Fate::Late(time(t)?), rest),
        ("held", [rest @ .., "until", t]) => (Fate::Held(time(t)?), rest),
        ("twice", [rest @ .., "after", t]) => (Fate::Twice(time(t)?), rest),
        _ => return Err("not a fate".to_owned()),
    };
    let leg = match *leg {
        "up" => Leg::Up,
        "down" => Leg::Down,
        _ => return Err("a fate happens up or down".to_owned()),
    };
    Ok((Fated { leg, fate }, rest))
}

fn nothing(rest: &[&str]) -> Parsed<()> {
    match rest {
        [] => Ok(()),
        _ => Err("too much".to_owned()),
    }
}

fn host(name: &str) -> Parsed<Host> {
    match name {
        "A" => Ok(Host::A),
        "B" => Ok(Host::B),
        _ => Err(format!("{name} is no host")),
    }
}

/// `5` or `5..8`, the end excluded as in Rust.
fn span(word: &str) -> Parsed<Range<i64>> {
    match word.split_once("..") {
        Some((start, end)) => Ok(number(start)?..number(end)?),
        None => number(word).map(|n: i64| n..n + 1),
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Parsed<T> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

/// `10ms`, `0.1ms`, `50us`, `3s`: in ns.
pub(crate) fn time(word: &str) -> Parsed<i64> {
    let (digits, unit) = [("us", 1e3), ("ms", 1e6), ("ns", 1.0), ("s", 1e9)]
        .into_iter()
        .find_map(|(end, unit)| word.strip_suffix(end).map(|digits| (digits, unit)))
        .ok_or_else(|| format!("{word} is no time"))?;
    let value: f64 = number(digits)?;
    Ok((value * unit).round() as i64)
}

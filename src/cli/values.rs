//! What options take as values.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::analyze::FnessWindow;
use crate::decode::Filter;
use crate::path::QueueLimit;
use crate::study::units::{self, Dimension};

pub(super) use crate::study::units::{parse_rate, parse_time};

/// One of some values, by its name.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = all.iter().map(|&value| name(value));
    PossibleValuesParser::new(names).try_map(move |chosen| {
        let mut all = all.iter().copied();
        let of_name = all.find(|&value| name(value) == chosen);
        of_name.ok_or_else(|| format!("nothing is called '{chosen}'"))
    })
}

/// A whole number from `LEAST` to `MOST`.
pub(super) fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    text: &str,
) -> Result<T, String> {
    // Wider than any number that fits, so that those below zero and far too large ones are told apart.
    let number = text
        .parse::<i128>()
        .map_err(|_| format!("'{text}' is no whole number: write it in digits"))?;
    if number < i128::from(LEAST) {
        return Err(format!("{number} is too little: at least {LEAST}"));
    }
    let too_much = || format!("{number} is too much: at most {MOST}");
    let number = u64::try_from(number)
        .ok()
        .filter(|&number| number <= MOST)
        .ok_or_else(too_much)?;
    T::try_from(number).map_err(|_| too_much())
}

/// A size such as `4GB` or `512MiB`, in bytes.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let bytes = units::parse(text, Dimension::Size)?;
    if bytes < 1e6 {
        Err(format!("'{text}' is too little: at least 1MB"))
    } else if bytes < 1e18 {
        Ok(bytes as u64)
    } else {
        Err(format!("'{text}' is more than any machine has"))
    }
}

/// One `--name`.
#[derive(Clone, Debug)]
pub struct Naming {
    pub(super) filter: Filter,
    /// The filter as an expression, also where a port was given.
    pub(super) expression: String,
    pub(super) name: String,
}

/// Understands `5001=cubic`, or an expression in the place of the port.
pub(super) fn parse_name(text: &str) -> Result<Naming, String> {
    let parts = text
        .split_once('=')
        .map(|(of, name)| (of.trim(), name.trim()));
    let Some((of, name)) = parts.filter(|(of, name)| !of.is_empty() && !name.is_empty()) else {
        return Err(format!("'{text}' names nothing: write it as 5001=cubic"));
    };
    if name.contains(char::is_control) {
        return Err(format!("{name:?} is no name: write it in one line"));
    }
    let is_number = of.chars().all(|c| c.is_ascii_digit());
    let expression = match of.parse::<u16>() {
        Ok(port) => format!("port {port}"),
        Err(_) if is_number => return Err(format!("'{of}' is no port: at most 65535")),
        Err(_) => of.to_owned(),
    };
    let filter = Filter::parse(&expression).map_err(|error| format!("'{of}': {error}"))?;
    let name = name.to_owned();
    Ok(Naming {
        filter,
        expression,
        name,
    })
}

/// A window such as `5s+35s`.
pub(super) fn parse_window(text: &str) -> Result<FnessWindow, String> {
    let parts = text.split_once('+');
    let Some((offset, length)) = parts.filter(|(a, b)| ![a.trim(), b.trim()].contains(&"")) else {
        return Err(format!(
            "'{text}' is no window: write offset and length as 5s+35s"
        ));
    };
    let window = FnessWindow {
        offset_ns: parse_time(offset)?,
        length_ns: parse_time(length)?,
    };
    if window.length_ns > 0 {
        Ok(window)
    } else {
        Err(format!("'{text}': the length must be above 0"))
    }
}

/// No queue holds more packets or bytes.
const LIMIT_MAX: f64 = 1e12;

/// A limit such as `100p`, `150kB` or `1.5 MB`, by the units of manifests.
pub(super) fn parse_limit(text: &str) -> Result<QueueLimit, String> {
    let is_none = |why: &str| {
        format!(
            "'{text}' is no limit of a queue: {why}; write packets as 100p, bytes as 150kB or 64KiB"
        )
    };
    let within = |number: f64| {
        if number > LIMIT_MAX {
            Err(format!("'{text}' is more than any queue holds"))
        } else if number <= 0.0 {
            Err(is_none("it must be above 0"))
        } else {
            Ok(number)
        }
    };
    if let Ok(packets) = units::parse(text, Dimension::Packets) {
        let packets = within(packets)?;
        return if packets.fract() == 0.0 {
            Ok(QueueLimit::Packets(packets as u64))
        } else {
            Err(is_none("packets are whole"))
        };
    }
    if let Ok(bytes) = units::parse(text, Dimension::Size) {
        let bytes = within(bytes)?;
        return if bytes >= 1.0 {
            Ok(QueueLimit::Bytes(bytes.round() as u64))
        } else {
            Err(is_none("it is less than a byte"))
        };
    }
    let written = text.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    Err(is_none(if written.starts_with('-') {
        "it must be above 0"
    } else if !written.starts_with(is_of_number) {
        "it does not begin with a number"
    } else if written.ends_with(is_of_number) {
        "it has no unit"
    } else if units::parse(text, Dimension::Rate).is_ok() {
        // `1Mb` is a megabit where a rate is expected: it must not be a megabyte here.
        "it is written as a number of bits"
    } else {
        "its unit is none of packets or bytes"
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_whole_and_within_bounds() {
        assert_eq!(whole::<u16, 1, 1024>("8"), Ok(8));
        for (text, said) in [
            ("0", "at least 1"),
            ("1025", "at most 1024"),
            ("1e3", "no whole number"),
            ("-1", "-1 is too little: at least 1"),
            ("99999999999999999999", "at most 1024"),
            ("two", "no whole number"),
        ] {
            let refused = whole::<u16, 1, 1024>(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn a_size_has_a_unit() {
        assert_eq!(parse_size("4GB"), Ok(4_000_000_000));
        assert_eq!(parse_size("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(parse_size("512MiB"), Ok(536_870_912));
        for wrong in ["4", "GB", "-4GB", "4 GX", "1kB", "nanGB", ""] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_window_is_offset_and_length() {
        let window = FnessWindow {
            offset_ns: 5_000_000_000,
            length_ns: 35_000_000_000,
        };
        assert_eq!(parse_window("5s+35s"), Ok(window));
        for (text, said) in [
            ("5s", "no window: write offset and length as 5s+35s"),
            ("5s+", "'5s+' is no window"),
            ("+5s", "'+5s' is no window"),
            ("5s+0s", "the length must be above 0"),
            ("-5s+5s", "'-5s' is below 0"),
            ("5+5", "'5' has no unit of time"),
        ] {
            let refused = parse_window(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn limits_are_packets_or_bytes() {
        for (text, limit) in [
            ("100p", QueueLimit::Packets(100)),
            ("1 packet", QueueLimit::Packets(1)),
            ("100 packets", QueueLimit::Packets(100)),
            ("100pkts", QueueLimit::Packets(100)),
            ("150kB", QueueLimit::Bytes(150_000)),
            ("150KB", QueueLimit::Bytes(150_000)),
            (" 1.5 MB ", QueueLimit::Bytes(1_500_000)),
            ("64KiB", QueueLimit::Bytes(65_536)),
            ("1MiB", QueueLimit::Bytes(1_048_576)),
            ("31250B", QueueLimit::Bytes(31_250)),
            ("31250 bytes", QueueLimit::Bytes(31_250)),
            ("1GB", QueueLimit::Bytes(1_000_000_000)),
            ("1TB", QueueLimit::Bytes(1_000_000_000_000)),
        ] {
            assert_eq!(parse_limit(text), Ok(limit), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_told_why_and_how_to_write_it() {
        for (text, why) in [
            ("0p", "must be above 0"),
            ("0B", "must be above 0"),
            ("-5p", "must be above 0"),
            ("-5kB", "must be above 0"),
            ("1.5p", "packets are whole"),
            ("0.5p", "packets are whole"),
            ("0.3B", "less than a byte"),
            ("", "does not begin with a number"),
            ("p", "does not begin with a number"),
            ("100", "has no unit"),
            ("1.5", "has no unit"),
            ("1b", "a number of bits"),
            ("1kb", "a number of bits"),
            ("1Mb", "a number of bits"),
            ("1M", "a number of bits"),
            ("5Mbit", "a number of bits"),
            ("1mb", "none of packets or bytes"),
            ("100ms", "none of packets or bytes"),
            ("0.5BDP", "none of packets or bytes"),
            ("10 apples", "none of packets or bytes"),
        ] {
            let said = parse_limit(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
            let way_out = "write packets as 100p, bytes as 150kB or 64KiB";
            assert!(said.contains(way_out), "{text}: {said}");
        }
        for text in ["99999999999999p", "2000GB", "1TiB"] {
            let said = parse_limit(text).unwrap_err();
            assert!(said.contains("more than any queue holds"), "{said}");
        }
    }
}

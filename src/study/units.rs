//! Quantities as people write them: a number and a unit, such as `50Mbit`, `20 ms` or `1.5BDP`.

/// What a quantity is a quantity of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// Bits per second.
    Rate,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// Packets.
    Packets,
    /// Percent.
    Percent,
    /// Bandwidth-delay products.
    Bdp,
}

impl Dimension {
    const ALL: [Self; 6] = [
        Self::Rate,
        Self::Time,
        Self::Size,
        Self::Packets,
        Self::Percent,
        Self::Bdp,
    ];

    /// What to call it, with how it is written.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::Rate => "a rate (50Mbit, 1.5Gbit/s, 800kbit)",
            Self::Time => "a time (100ms, 0.2s, 5min)",
            Self::Size => "a size (64kB, 1.5MB, 512KiB)",
            Self::Packets => "packets (100 packets)",
            Self::Percent => "percent (2%)",
            Self::Bdp => "bandwidth-delay products (0.5BDP)",
        }
    }

    /// Names of its units, the factor to the base unit, and how a column in that unit ends.
    const fn units(self) -> &'static [(&'static [&'static str], f64, &'static str)] {
        match self {
            Self::Rate => &[
                (&["bit", "bits", "b", ""], 1.0, "bps"),
                (
                    &["kbit", "Kbit", "kbits", "Kbits", "kb", "k", "K"],
                    1e3,
                    "kbps",
                ),
                (
                    &["Mbit", "mbit", "Mbits", "mbits", "Mb", "M", "m"],
                    1e6,
                    "mbps",
                ),
                (
                    &["Gbit", "gbit", "Gbits", "gbits", "Gb", "G", "g"],
                    1e9,
                    "gbps",
                ),
                (
                    &["Tbit", "tbit", "Tbits", "tbits", "Tb", "T", "t"],
                    1e12,
                    "tbps",
                ),
            ],
            Self::Time => &[
                (&["ns"], 1.0, "ns"),
                (&["us", "µs", "μs"], 1e3, "us"),
                (&["ms"], 1e6, "ms"),
                (&["s"], 1e9, "s"),
                (&["min"], 60e9, "min"),
                (&["h"], 3600e9, "h"),
            ],
            Self::Size => &[
                (&["B", "bytes", "byte"], 1.0, "bytes"),
                (&["kB", "KB"], 1e3, "kb"),
                (&["MB"], 1e6, "mb"),
                (&["GB"], 1e9, "gb"),
                (&["TB"], 1e12, "tb"),
                (&["KiB"], 1024.0, "kib"),
                (&["MiB"], 1_048_576.0, "mib"),
                (&["GiB"], 1_073_741_824.0, "gib"),
                (&["TiB"], 1_099_511_627_776.0, "tib"),
            ],
            Self::Packets => &[(&["packets", "packet", "pkts", "pkt", "p"], 1.0, "packets")],
            Self::Percent => &[(&["%", "percent"], 1.0, "percent")],
            Self::Bdp => &[(&["BDP", "bdp"], 1.0, "bdp")],
        }
    }

    /// The unit to read numbers of about `magnitude`, in the base unit, in: the largest that it reaches, up to
    /// seconds, and no multiples of 1024.
    #[must_use]
    pub fn for_reading(self, magnitude: f64) -> Unit {
        let known = |&&(_, factor, suffix): &&(_, f64, &str)| {
            let binary = suffix.ends_with("ib");
            let long = self == Self::Time && factor > 1e9;
            !binary && !long && magnitude >= factor * (1.0 - 1e-9)
        };
        let units = self.units();
        let &(_, factor, suffix) = units.iter().rfind(known).unwrap_or(&units[0]);
        Unit {
            dimension: self,
            factor,
            suffix,
        }
    }

    fn unit(self, name: &str) -> Option<Unit> {
        let bare = match self {
            Self::Rate => name
                .strip_suffix("/s")
                .or_else(|| name.strip_suffix("ps"))
                .unwrap_or(name),
            _ => name,
        };
        // What is spelt out is of bits, whatever its letters' case: `MBit/s`.
        let lower = name.to_ascii_lowercase();
        let bits = lower
            .strip_suffix("/s")
            .or_else(|| lower.strip_suffix("ps"));
        let bits = bits.unwrap_or(&lower);
        let bits = (self == Self::Rate).then_some(bits);
        let bits = bits.filter(|bits| bits.ends_with("bit") || bits.ends_with("bits"));
        self.units().iter().find_map(|&(names, factor, suffix)| {
            // `mbps`, as columns in this unit end, is as usual as `Mbps`.
            let is_suffix = self == Self::Rate && name == suffix;
            let is_bits = bits.is_some_and(|bits| names.contains(&bits));
            (is_suffix || is_bits || names.contains(&bare)).then_some(Unit {
                dimension: self,
                factor,
                suffix,
            })
        })
    }
}

/// A unit: what its numbers are multiplied by, and how a column in it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// One of it in the base unit of its dimension.
    pub factor: f64,
    /// How a column in this unit ends: `mbps`, `ms`, `percent`.
    pub suffix: &'static str,
}

impl Unit {
    /// The unit of this name.
    ///
    /// # Errors
    /// Says which units there are.
    pub fn named(name: &str) -> Result<Self, String> {
        // A bare prefix such as `m` is a unit of a rate only where a rate is expected.
        let spelt_out = name.chars().count() > 1 || matches!(name, "s" | "h" | "B" | "%");
        Dimension::ALL
            .into_iter()
            .filter(|_| spelt_out)
            .find_map(|dimension| dimension.unit(name))
            .ok_or_else(|| {
                format!(
                    "'{name}' is no unit that is known here: there are units of {}",
                    Dimension::ALL
                        .map(Dimension::described)
                        .join(", of ")
                        .replace("of packets", "of number: packets")
                )
            })
    }

    /// The unit that a number is written with: kilobytes of `30kB`, megabits a second of `20m`.
    #[must_use]
    pub fn written(text: &str) -> Option<Self> {
        let (_, name) = split_unit(text, Dimension::Size).ok()?;
        let of_rate = || Self::of(name, Dimension::Rate).ok();
        Self::named(name).ok().or_else(of_rate)
    }

    /// The unit of this name that measures `dimension`.
    ///
    /// # Errors
    /// Says what it measures instead, or which units there are.
    pub fn of(name: &str, dimension: Dimension) -> Result<Self, String> {
        if let Some(unit) = dimension.unit(name).filter(|_| !name.is_empty()) {
            return Ok(unit);
        }
        Self::named(name)?;
        Err(format!("'{name}' is no unit of {}", dimension.described()))
    }

    /// The unit of `dimension` that a column's name ends in: `goodput_mbps` is in Mbit/s, `rtt_ms` in ms,
    /// `completion_s` in s.
    #[must_use]
    pub fn of_column(name: &str, dimension: Dimension) -> Option<Self> {
        // `_min` may be the smallest, `_mb` and `_kb` of either thousand.
        const SAYING: [&str; 10] = [
            "bps", "kbps", "mbps", "gbps", "ns", "us", "ms", "s", "bytes", "percent",
        ];
        let (_, end) = name.rsplit_once('_')?;
        dimension
            .units()
            .iter()
            .find(|(_, _, suffix)| SAYING.contains(suffix) && *suffix == end)
            .map(|&(_, factor, suffix)| Self {
                dimension,
                factor,
                suffix,
            })
    }

    /// The unit that a word of the name of one of our own columns means; `min` is the smallest there, `h` a statistic,
    /// and `packets` are what is counted.
    #[must_use]
    pub fn ending(word: &str) -> Option<Self> {
        if ["min", "h", "packets"].contains(&word) {
            return None;
        }
        let units = |dimension: Dimension| {
            let units = dimension.units().iter();
            units.map(move |&(_, factor, suffix)| Self {
                dimension,
                factor,
                suffix,
            })
        };
        let mut all = Dimension::ALL.into_iter().flat_map(units);
        all.find(|unit| unit.suffix == word)
    }

    /// The unit that a column's name seems to end in, where a person looks at the guess before it
    /// counts: `_kb` and `_mb`, too.
    #[must_use]
    pub fn guessed(name: &str) -> Option<Self> {
        const SEEMING: [&str; 2] = ["kb", "mb"];
        let (_, end) = name.rsplit_once('_')?;
        let seeming = |dimension: Dimension| {
            let seeming = SEEMING.contains(&end);
            let units = dimension.units().iter().filter(|_| seeming);
            units.clone().find_map(|&(_, factor, suffix)| {
                (suffix == end).then_some(Self {
                    dimension,
                    factor,
                    suffix,
                })
            })
        };
        Dimension::ALL
            .into_iter()
            .find_map(|dimension| Self::of_column(name, dimension).or_else(|| seeming(dimension)))
    }

    /// As it is written behind numbers: `Mbit/s`, `µs`, `%`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match (self.dimension, self.suffix) {
            (Dimension::Rate, "bps") => "bit/s",
            (Dimension::Rate, "kbps") => "kbit/s",
            (Dimension::Rate, "mbps") => "Mbit/s",
            (Dimension::Rate, "gbps") => "Gbit/s",
            (Dimension::Rate, "tbps") => "Tbit/s",
            (Dimension::Time, "us") => "µs",
            (Dimension::Percent | Dimension::Bdp | Dimension::Size, _) => self.name(),
            (_, suffix) => suffix,
        }
    }

    /// What it is called in a manifest: `Mbit`, `ms`, `%`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let units = self.dimension.units().iter();
        let mut names = units.filter(|(_, _, suffix)| *suffix == self.suffix);
        names.next().map_or(self.suffix, |(names, _, _)| names[0])
    }

    /// A number with or without a unit, in this unit: with `ms`, `20` is 20 and `0.1s` is 100.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let (number, name) = split_unit(text, self.dimension)?;
        if name.is_empty() {
            return Ok(number);
        }
        let unit = self
            .dimension
            .unit(name)
            .ok_or_else(|| format!("'{text}' is not {}", self.dimension.described()))?;
        Ok(number * unit.factor / self.factor)
    }
}

/// A number and the rest: the unit.
fn split_unit(text: &str, dimension: Dimension) -> Result<(f64, &str), String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| {
        let is_below = text.strip_prefix('-').is_some_and(|rest| {
            let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
            rest.starts_with(is_of_number)
        });
        let what = if is_below {
            "is below 0"
        } else {
            "does not begin with a number"
        };
        format!("'{text}' {what}: write {}", dimension.described())
    })?;
    Ok((number, unit.trim()))
}

/// A number in the base unit of `dimension`; the unit must be there.
///
/// # Errors
/// Says what was expected.
pub fn parse(text: &str, dimension: Dimension) -> Result<f64, String> {
    let (number, name) = split_unit(text, dimension)?;
    match dimension.unit(name) {
        Some(unit) => Ok(number * unit.factor),
        None => Err(format!(
            "'{text}' is not written as {}",
            dimension.described()
        )),
    }
}

/// A rate such as `50Mbit`, `1.5 Gbit/s` or `10M`, in bits per second.
///
/// # Errors
/// Says how a rate is written.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, name) = split_unit(text, Dimension::Rate)?;
    let unit = Dimension::Rate.unit(name).ok_or_else(|| {
        if let Some(prefix) = prefix_of_bytes(name) {
            return format!(
                "'{text}' may be of bytes or of bits: write it as {}{prefix}bit or {number}{prefix}bit",
                8.0 * number
            );
        }
        let none = none_such(name);
        format!("'{text}' has no unit of a rate{none}: write it as 50Mbit, 1.5Gbit/s or 800kbit")
    })?;
    let bps = number * unit.factor;
    // Nobody's link: the unit was forgotten.
    if name.is_empty() && bps > 0.0 && bps < 1000.0 {
        Err(format!(
            "'{text}' would be bits per second: write the unit, such as {text}Mbit"
        ))
    } else if bps <= 0.0 {
        Err(format!("'{text}' is no rate: it must be above 0"))
    } else if bps < 1.0 {
        Err(format!("'{text}' is less than a bit per second"))
    } else if bps > RATE_BPS_MAX {
        Err(format!("'{text}' is more than any link has"))
    } else {
        Ok(bps)
    }
}

/// The prefix of what is bytes by its letters, and often bits by what is meant: `M` of `MB/s`, `MBps` and `MB`.
fn prefix_of_bytes(name: &str) -> Option<&'static str> {
    let bare = name.strip_suffix("/s").or_else(|| name.strip_suffix("ps"));
    Some(match bare.unwrap_or(name) {
        "B" => "",
        "kB" | "KB" => "k",
        "mB" | "MB" => "M",
        "gB" | "GB" => "G",
        "tB" | "TB" => "T",
        _ => return None,
    })
}

/// Faster is no link, in bits per second.
const RATE_BPS_MAX: f64 = 1e15;

/// What stands where a unit is expected.
fn none_such(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(" ('{name}' is none)")
    }
}

/// A time such as `100ms`, `0.2s` or `1 min`, in nanoseconds.
///
/// # Errors
/// Says how a time is written.
pub fn parse_time(text: &str) -> Result<i64, String> {
    let (number, name) = split_unit(text, Dimension::Time)?;
    let unit = Dimension::Time.unit(name).ok_or_else(|| {
        let none = none_such(name);
        format!("'{text}' has no unit of time{none}: write it as 100ms, 0.2s or 5min")
    })?;
    let ns = number * unit.factor;
    // 2^53 ns are 104 days; a float counts no further exactly.
    if ns < 9e15 {
        Ok(ns.round() as i64)
    } else {
        Err(format!("'{text}' is longer than 100 days"))
    }
}

/// A time in words: `50 ms`.
pub(super) fn time_in_words(ns: i64) -> String {
    let unit = Dimension::Time.for_reading(ns as f64);
    format!("{} {}", ns as f64 / unit.factor, unit.symbol())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_unit_they_are_written_with() {
        let ms = Unit::named("ms").unwrap();
        assert_eq!(ms.parse("20"), Ok(20.0));
        assert_eq!(ms.parse("0.1s"), Ok(100.0));
        assert_eq!(ms.parse("500 us"), Ok(0.5));
        assert!(ms.parse("10Mbit").unwrap_err().contains("a time"));
        assert_eq!(parse_rate("50mbps"), parse_rate("50Mbps"));
        let rate = Unit::named("Mbit/s").unwrap();
        assert_eq!((rate.suffix, rate.parse("1Gbit")), ("mbps", Ok(1000.0)));
        assert_eq!(rate.parse("50m"), Ok(50.0));
        assert_eq!(Unit::named("%").unwrap().parse("2%"), Ok(2.0));
    }

    #[test]
    fn the_unit_of_a_column_has_the_name_that_manifests_use() {
        for (column, name) in [
            ("bw_mbps", Some("Mbit")),
            ("rtt_ms", Some("ms")),
            ("time_s", Some("s")),
            ("buffer_kb", Some("kB")),
            ("buffer_bytes", Some("B")),
            ("loss_percent", Some("%")),
            // The smallest, as often as minutes.
            ("rtt_min", None),
            ("goodput", None),
        ] {
            let unit = Unit::guessed(column);
            assert_eq!(unit.map(Unit::name), name, "{column}");
            if let Some(unit) = unit {
                assert_eq!(Unit::named(unit.name()), Ok(unit), "{column}");
            }
        }
    }

    #[test]
    fn a_unit_that_nobody_knows_is_named_with_those_that_there_are() {
        let message = Unit::named("furlong").unwrap_err();
        assert!(message.contains("'furlong'") && message.contains("a rate (50Mbit"));
        assert!(Unit::named("m").is_err(), "minutes, metres, or mega?");
    }

    #[test]
    fn a_buffer_is_written_in_bytes_packets_or_bdp() {
        assert_eq!(parse("64kB", Dimension::Size), Ok(64_000.0));
        assert_eq!(parse("100 packets", Dimension::Packets), Ok(100.0));
        assert_eq!(parse("0.5BDP", Dimension::Bdp), Ok(0.5));
        assert!(parse("100", Dimension::Size).is_err());
    }

    #[test]
    fn rates_come_in_the_spellings_that_people_use() {
        for (text, bps) in [
            ("50Mbit", 50e6),
            ("1.5 Gbit/s", 1.5e9),
            ("10M", 10e6),
            ("800kbps", 8e5),
            ("9600", 9600.0),
            ("50MBit/s", 50e6),
            ("1 GBITS", 1e9),
            ("800 KBit/S", 8e5),
            ("2mBitps", 2e6),
        ] {
            assert_eq!(parse_rate(text), Ok(bps), "{text}");
        }
        // Bits per second may go without their name, but nobody has a link of 50 of them.
        for (text, said) in [
            ("", "'' does not begin with a number: write a rate (50Mbit"),
            ("fast", "does not begin with a number"),
            ("50 apples", "no unit of a rate ('apples' is none)"),
            (
                "1,5Mbit",
                "(',5Mbit' is none): write it as 50Mbit, 1.5Gbit/s",
            ),
            (
                "50MB",
                "may be of bytes or of bits: write it as 400Mbit or 50Mbit",
            ),
            ("1.5 GB/s", "write it as 12Gbit or 1.5Gbit"),
            ("900KBps", "write it as 7200kbit or 900kbit"),
            ("50Mibit", "('Mibit' is none)"),
            ("-5Mbit", "'-5Mbit' is below 0: write a rate"),
            ("0Mbit", "must be above 0"),
            ("0.1bit", "less than a bit per second"),
            ("9999999Tbit", "more than any link has"),
            ("50", "write the unit, such as 50Mbit"),
        ] {
            let refused = parse_rate(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        for (text, ns) in [
            ("100ms", 100_000_000),
            ("0.2s", 200_000_000),
            ("1min", 60_000_000_000),
        ] {
            assert_eq!(parse_time(text), Ok(ns), "{text}");
        }
        for text in ["100", "ms", "-1s", "1e9s", "400000min"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}

//! Archives of flent, the Flexible Network Tester: JSON with series at common times.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::{Fault, ImportErrorKind, Place};
use super::{
    MeasuredColumn, MeasuredFormat, MeasuredSeries, MeasuredTable, MeasuredValues, check_cells,
};

/// The latest version of the format that is known.
pub(super) const VERSION_MAX: u64 = 4;

/// Bytes of an archive after decompression: in memory it takes up to eight times that.
const ARCHIVE_BYTES_MAX: usize = 64 << 20;

/// Name of the column of times.
const TIME: &str = "time_s";

/// Entries of the metadata that are kept; further ones are left out.
const METADATA_MAX: usize = 4096;

/// Levels of the metadata that are kept, as in `SERIES_META.TCP upload.UNITS`.
const METADATA_LEVELS: usize = 3;

#[derive(Deserialize)]
struct Archive {
    #[serde(default)]
    metadata: Metadata,
    results: BTreeMap<String, Vec<Option<f64>>>,
    x_values: Vec<f64>,
    #[serde(default)]
    raw_values: BTreeMap<String, Vec<RawPoint>>,
    version: u64,
}

/// What was measured at an instant; of some series flent keeps no single value.
#[derive(Deserialize)]
struct RawPoint {
    t: Option<f64>,
    val: Option<f64>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<MeasuredTable, Fault> {
    if bytes.len() > ARCHIVE_BYTES_MAX {
        return Err(ImportErrorKind::TooLarge {
            limit_bytes: ARCHIVE_BYTES_MAX as u64,
        }
        .into());
    }
    let archive: Archive = serde_json::from_slice(bytes).map_err(|error| fault(&error))?;
    if archive.version > VERSION_MAX {
        let version = archive.version;
        return Err(ImportErrorKind::FlentVersion { version }.into());
    }
    let times = archive.x_values;
    check_cells(times.len() as u64 * (archive.results.len() as u64 + 1))?;
    let uneven = archive
        .results
        .iter()
        .find(|(_, values)| values.len() != times.len());
    if let Some((name, values)) = uneven {
        return Err(ImportErrorKind::FlentLength {
            name: name.clone(),
            values: values.len(),
            times: times.len(),
        }
        .into());
    }
    let time = (TIME.to_owned(), times.into_iter().map(Some).collect());
    let columns = std::iter::once(time).chain(archive.results);
    Ok(MeasuredTable {
        format: MeasuredFormat::Flent,
        columns: columns
            .map(|(name, values)| MeasuredColumn::new(name, MeasuredValues::Numbers(values)))
            .collect(),
        series: archive.raw_values.into_iter().filter_map(series).collect(),
        metadata: archive.metadata.0,
        lines: Vec::new(),
    })
}

/// How many flows of TCP a test had, as far as its series tell: each is one, but for what flent made of several (`avg`, `sum`,
/// `totals`, `fairness`, and `TCP upload` where there is a `TCP upload::1`), and for what sockets said of one
/// (`::tcp_cwnd`). `None` without any.
pub(in crate::study) fn flows(table: &MeasuredTable) -> Option<u64> {
    let columns = table.columns.iter().map(|column| column.name.as_str());
    let series = table.series.iter().map(|series| series.name.as_str());
    let names: BTreeSet<&str> = columns.chain(series).collect();
    let number = |name: &str| {
        let (stem, number) = name.rsplit_once("::")?;
        Some((stem.to_owned(), number.parse::<u32>().ok()?))
    };
    let parted: BTreeSet<String> = names
        .iter()
        .filter_map(|name| Some(number(name)?.0))
        .collect();
    let is_flow = |name: &&&str| {
        let is_made = [" avg", " sum", " totals", " fairness"];
        let is_made = is_made.iter().any(|made| name.ends_with(made));
        let is_plain = !name.contains("::") || number(name).is_some();
        name.starts_with("TCP ") && !is_made && is_plain && !parted.contains(**name)
    };
    let flows = names.iter().filter(is_flow).count() as u64;
    (flows > 0).then_some(flows)
}

/// A raw series; `None` where it has no single values.
fn series((name, points): (String, Vec<RawPoint>)) -> Option<MeasuredSeries> {
    let points: Vec<(f64, f64)> = points
        .into_iter()
        .filter_map(|point| Some((point.t?, point.val?)))
        .collect();
    (!points.is_empty()).then_some(MeasuredSeries { name, points })
}

fn fault(error: &serde_json::Error) -> Fault {
    let text = error.to_string();
    // The place is told apart from the text.
    let text = text.split(" at line ").next().unwrap_or_default();
    Fault::at(
        Place::LineColumn(error.line() as u64, error.column() as u64),
        ImportErrorKind::Flent(text.to_owned()),
    )
}

/// The plain values of the metadata by their path; lists are left out.
#[derive(Default)]
struct Metadata(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found = BTreeMap::new();
        let level = Level {
            path: "",
            levels_left: METADATA_LEVELS,
            found: &mut found,
        };
        level.deserialize(deserializer)?;
        Ok(Self(found))
    }
}

/// A value of the metadata at a path.
struct Level<'a> {
    path: &'a str,
    levels_left: usize,
    found: &'a mut BTreeMap<String, String>,
}

impl Level<'_> {
    fn keep(self, value: String) {
        if !self.path.is_empty() && self.found.len() < METADATA_MAX {
            self.found.insert(self.path.to_owned(), value);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.keep(value.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.keep(value.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.keep(value.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.keep(value.to_string());
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.keep(value.to_owned());
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.levels_left == 0 {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let path = match self.path {
                "" => key,
                path => format!("{path}.{key}"),
            };
            map.next_value_seed(Level {
                path: &path,
                levels_left: self.levels_left - 1,
                found: &mut *self.found,
            })?;
        }
        Ok(())
    }
}

//! What is asked for besides files and labels: grouping, tests, baseline, options.

use super::{Average, Compositions, PlannedRun, Samples};
use crate::analyze::Config;
use crate::decode::{DecodeOptions, Filter, TunnelLayer};
use crate::metric::BalanceWeights;
use crate::study::labels::{FlowRule, Label, LabelValue, is_repetition};
use crate::study::manifest::{Document, Located, Manifest, suggestion};
use crate::study::metrics::Metric;
use crate::study::reports::{self, ReportPlan};
use crate::study::units::{Dimension, parse, parse_time};
use crate::study::window::Window;

/// What the settings are understood with.
pub(super) struct Settings<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) labels: &'a [Label],
    /// Of each run, by label.
    pub(super) values: &'a [Vec<Option<LabelValue>>],
    /// The runs with what tells their flows apart, once that is understood.
    pub(super) runs: &'a [PlannedRun],
}

impl Settings<'_> {
    /// The place of a label; a mistake where there is none of this name.
    fn place(&self, name: &Located<String>, document: &mut Document) -> Option<usize> {
        let place = self
            .labels
            .iter()
            .position(|label| label.name == name.value);
        if place.is_none() {
            let names: Vec<&str> = self
                .labels
                .iter()
                .map(|label| label.name.as_str())
                .collect();
            let hint = suggestion(&name.value, &names);
            document.mistake_of_labels(
                name.line,
                format!("there is no label '{}'{hint}", name.value),
            );
        }
        place
    }

    /// The places of labels, of which each may be named once.
    fn places(&self, names: &[Located<String>], document: &mut Document) -> Vec<usize> {
        let mut places = Vec::new();
        for name in names {
            match self.place(name, document) {
                Some(place) if places.contains(&place) => {
                    let message = format!("label '{}' is named a second time", name.value);
                    document.mistake(name.line, message);
                }
                place => places.extend(place),
            }
        }
        places
    }

    /// A mistake where a label makes no groups, although something is asked of it that only groups can answer.
    fn must_make_groups(
        &self,
        name: &Located<String>,
        group_by: &[usize],
        asked: &str,
        document: &mut Document,
    ) {
        let is_it = |&place: &usize| self.labels[place].name == name.value;
        let is_known = self.labels.iter().any(|label| label.name == name.value);
        if is_known && !group_by.iter().any(is_it) {
            let message = format!("label '{}' {asked}, but not in group_by", name.value);
            document.mistake(name.line, message);
        }
    }

    /// Labels that tell repetitions apart.
    pub(super) fn repetition(&self, document: &mut Document) -> Vec<usize> {
        match &self.manifest.study.repetition {
            Some(names) => self.places(names, document),
            None => (0..self.labels.len())
                .filter(|&place| is_repetition(&self.labels[place].name))
                .collect(),
        }
    }

    /// Labels that make the groups, and those that are tested.
    pub(super) fn grouping(
        &self,
        repetition: &[usize],
        document: &mut Document,
    ) -> (Vec<usize>, Vec<usize>) {
        let study = &self.manifest.study;
        let group_by = match &study.group_by {
            Some(names) => self.places(names, document),
            None => (0..self.labels.len())
                .filter(|place| !repetition.contains(place))
                .collect(),
        };
        let tests = match &study.test {
            Some(names) => self.places(names, document),
            None => group_by.clone(),
        };
        for name in study.test.iter().flatten() {
            self.must_make_groups(name, &group_by, "is tested", document);
        }
        (group_by, tests)
    }

    /// What groups are compared with, given the labels that make these.
    pub(super) fn baseline(
        &self,
        group_by: &[usize],
        document: &mut Document,
    ) -> Vec<(usize, LabelValue)> {
        let mut baseline = Vec::new();
        for (name, text) in &self.manifest.study.baseline {
            self.must_make_groups(name, group_by, "is in the baseline", document);
            let Some(place) = self.place(name, document) else {
                continue;
            };
            // What is wrong about the flows has been said.
            let is_open = self.labels[place].of_flows && !document.is_sound();
            match self.known_value(place, &text.value) {
                Ok(value) => baseline.push((place, value)),
                Err(_) if is_open => {}
                Err(message) => document.mistake_of_labels(text.line, message),
            }
        }
        baseline
    }

    /// Names of values that no run and no flow has, as of words that are written otherwise.
    pub(super) fn must_name_values(&self, document: &mut Document) {
        for section in &self.manifest.labels {
            let mut labels = self.labels.iter();
            let place = labels.position(|label| label.name == section.name.value);
            let Some(place) = place.filter(|_| !section.names.is_empty()) else {
                continue;
            };
            // What is wrong about the flows has been said.
            if self.labels[place].of_flows && !document.is_sound() {
                continue;
            }
            let known = self.known_values(place);
            for (word, _) in &section.names {
                if let Err(message) = self.known_alone(place, &word.value, &known) {
                    document.mistake_of_labels(word.line, message);
                }
            }
        }
    }

    /// A value that some run has, or that some flow can get.
    fn known_value(&self, place: usize, text: &str) -> Result<LabelValue, String> {
        let label = &self.labels[place];
        let known = self.known_values(place);
        // A run whose flows have several is called by all of them: no text that the label itself could have.
        let joined = label.of_flows.then(|| LabelValue::joined_of(text, &known));
        if let Some(joined) = joined.flatten() {
            return Ok(joined);
        }
        self.known_alone(place, text, &known)
    }

    /// The same of one value alone, of those that are known.
    fn known_alone(
        &self,
        place: usize,
        text: &str,
        known: &[LabelValue],
    ) -> Result<LabelValue, String> {
        let label = &self.labels[place];
        let value = label.value(text)?;
        if known.contains(&value) {
            return Ok(value);
        }
        let texts: Vec<&str> = known.iter().map(LabelValue::text).collect();
        let hint = suggestion(text, &texts);
        let what = if label.of_flows { "run or flow" } else { "run" };
        Err(format!("no {what} has {} = '{text}'{hint}", label.name))
    }

    fn known_values(&self, place: usize) -> Vec<LabelValue> {
        let mut known: Vec<LabelValue> = self
            .values
            .iter()
            .filter_map(|values| values[place].clone())
            .collect();
        for run in self.runs {
            let rules = run.flow_rules.iter().filter(|rule| rule.label == place);
            known.extend(rules.flat_map(FlowRule::values).cloned());
            let measured = run.measured.iter().flat_map(|run| &run.flow_labels);
            known.extend(measured.filter_map(|labels| labels[place].clone()));
        }
        known.sort();
        known.dedup();
        known
    }

    /// Labels that a solo run shares with the flows it is compared with, where the manifest says so.
    pub(super) fn same(&self, document: &mut Document) -> Option<Vec<usize>> {
        let names = self.manifest.study.same.as_ref()?;
        Some(self.places(names, document))
    }

    pub(super) fn metrics(&self, document: &mut Document) -> Vec<Metric> {
        let Some(names) = &self.manifest.study.metrics else {
            return Metric::ALL.to_vec();
        };
        let mut metrics = Vec::new();
        let mut are_known = true;
        for name in names {
            if let Some(metric) = Metric::named(&name.value) {
                metrics.push(metric);
            } else {
                are_known = false;
                let all: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
                let hint = suggestion(&name.value, &all);
                document.mistake(
                    name.line,
                    format!("there is no metric '{}'{hint}", name.value),
                );
            }
        }
        // One that was meant may be what a report is about: that it lacks that would follow from the mistake above.
        if !are_known {
            return Metric::ALL.to_vec();
        }
        metrics.sort_unstable();
        metrics.dedup();
        metrics
    }

    pub(super) fn samples(&self, document: &mut Document) -> Samples {
        let text = self.manifest.study.samples.as_ref();
        let known = [("runs", Samples::Runs), ("flows", Samples::Flows)];
        chosen("samples", text, &known, document)
    }

    pub(super) fn average(&self, document: &mut Document) -> Average {
        let text = self.manifest.study.average.as_ref();
        let known = [("mean", Average::Mean), ("median", Average::Median)];
        chosen("average", text, &known, document)
    }

    pub(super) fn compositions(&self, document: &mut Document) -> Compositions {
        let text = self.manifest.study.compositions.as_ref();
        let known = [
            ("apart", Compositions::Apart),
            ("together", Compositions::Together),
        ];
        chosen("compositions", text, &known, document)
    }

    pub(super) fn window(&self, own: Option<&Located<String>>, document: &mut Document) -> Window {
        let text = own.or(self.manifest.analysis.window.as_ref());
        meant(text, document, Window::parse).unwrap_or_default()
    }

    pub(super) fn min_flow_bytes(&self, document: &mut Document) -> Option<u64> {
        let text = self.manifest.analysis.min_flow.as_ref();
        meant(text, document, |text| parse(text, Dimension::Size)).map(|bytes| bytes as u64)
    }

    pub(super) fn config(&self, document: &mut Document) -> Config {
        let analysis = &self.manifest.analysis;
        let usual = Config::default();
        let filter = meant(analysis.filter.as_ref(), document, |text| {
            Filter::parse(text).map_err(|error| format!("filter '{text}': {error}"))
        });
        let bin_ns = meant(analysis.bin.as_ref(), document, |text| {
            let ns = parse_time(text)?;
            if ns > 0 {
                Ok(ns)
            } else {
                Err("a bin must be longer than nothing".to_owned())
            }
        });
        Config {
            decode: DecodeOptions {
                layer: if analysis.outer {
                    TunnelLayer::Outermost
                } else {
                    TunnelLayer::Innermost
                },
            },
            filter,
            udp: analysis.udp,
            bin_ns: bin_ns.unwrap_or(usual.bin_ns),
            weights: self.weights(document).unwrap_or(usual.weights),
            ..usual
        }
    }

    fn weights(&self, document: &mut Document) -> Option<BalanceWeights> {
        let texts = self.manifest.analysis.weights.as_ref()?;
        let number = |text: &Located<String>| text.value.parse::<f64>().ok();
        let is_weight = |weight: &f64| *weight >= 0.0 && weight.is_finite();
        let numbers: Option<Vec<f64>> = (texts.iter())
            .map(|text| number(text).filter(is_weight))
            .collect();
        if let Some([alpha, beta, gamma]) = numbers.as_deref()
            && alpha + beta + gamma > 0.0
        {
            return Some(BalanceWeights {
                alpha: *alpha,
                beta: *beta,
                gamma: *gamma,
            });
        }
        let line = texts.first().map_or(1, |text| text.line);
        document.mistake(
            line,
            "weights must be three numbers, none below 0 and not all 0, of goodput, delay and retransmissions: weights = [1, 1, 1]",
        );
        None
    }

    /// All that decides what comes out of a capture, besides the capture, as text.
    pub(super) fn options(&self, config: &Config, min_flow_bytes: Option<u64>) -> String {
        let analysis = &self.manifest.analysis;
        format!(
            "filter={:?} outer={} udp={} bin_ns={} weights={:?} min_flow_bytes={min_flow_bytes:?}",
            analysis.filter.as_ref().map(|text| &text.value),
            analysis.outer,
            analysis.udp,
            config.bin_ns,
            config.weights,
        )
    }

    pub(super) fn reports(
        &self,
        config: &Config,
        metrics: &[Metric],
        group_by: &[usize],
        document: &mut Document,
    ) -> Vec<ReportPlan> {
        let context = reports::Context {
            labels: self.labels,
            sections: &self.manifest.reports,
            bin_ns: config.bin_ns,
            metrics,
            group_by,
            value: &|place, text| self.known_value(place, text),
        };
        let asked = &self.manifest.study.report;
        document.mistake_of_repeats(asked, |name| {
            format!("report '{name}' is named a second time")
        });
        let plans = asked
            .iter()
            .filter_map(|name| ReportPlan::of(name, &context, document))
            .collect();
        for section in &self.manifest.reports {
            if !asked.iter().any(|name| name.value == section.name.value) {
                let message = format!(
                    "[reports.{0}] is for a report that is not asked for: write report = \"{0}\" in [study]",
                    section.name.value
                );
                document.mistake(section.name.line, message);
            }
        }
        plans
    }
}

pub(super) fn meant<T>(
    text: Option<&Located<String>>,
    document: &mut Document,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let text = text?;
    parse(&text.value)
        .map_err(|message| document.mistake(text.line, message))
        .ok()
}

/// One of these words of `[study]`, or what stands for none.
fn chosen<T: Copy + Default>(
    key: &str,
    text: Option<&Located<String>>,
    known: &[(&str, T)],
    document: &mut Document,
) -> T {
    let Some(text) = text else {
        return T::default();
    };
    let found = known.iter().find(|(name, _)| *name == text.value);
    if found.is_none() {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let hint = suggestion(&text.value, &names);
        let message = format!("{key} cannot be '{}'{hint}", text.value);
        document.mistake(text.line, message);
    }
    found.map_or_else(T::default, |&(_, value)| value)
}

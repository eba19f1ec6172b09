//! `[[flows]]` and `[[runs.flows]]`: labels of flows.

use toml::de::DeValue;

use super::document::{Document, Located, Section};

/// `[[flows]]` or `[[runs.flows]]`.
#[derive(Clone, Debug)]
pub(in crate::study) struct FlowSection {
    /// The label it gives.
    pub label: Located<String>,
    /// What tells the flows apart.
    pub by: Located<String>,
    /// Which flow has which value.
    pub values: Vec<(Located<String>, Located<String>)>,
    /// The value of all others.
    pub other: Option<Located<String>>,
}

pub(super) fn flow_rules(
    document: &mut Document,
    parent: &Section<'_>,
    title: &str,
) -> Vec<FlowSection> {
    parent
        .tables(document, "flows")
        .into_iter()
        .filter_map(|(table, span)| {
            let keys = ["label", "by", "values", "other"];
            let section = Section::new(document, title, table, &span, &keys);
            for key in ["label", "by", "values"] {
                if section.get(key).is_none() {
                    let message = format!(
                        "{title} lacks '{key}': write label = \"cca\", by = \"server\", values = {{ \"5001\" = \"cubic\" }}"
                    );
                    document.mistake(section.line, message);
                }
            }
            let label = section.text(document, "label");
            let by = section.text(document, "by");
            let is_list = section
                .get("values")
                .is_some_and(|value| matches!(value.get_ref(), DeValue::Array(_)));
            let is_start = by.as_ref().map_or(is_list, |by| by.value == "start");
            // A list is the order of start; anything else is asked for by what it is called.
            let values = match (is_list, is_start) {
                (true, true) => section.texts(document, "values").map(|values| {
                    values
                        .into_iter()
                        .enumerate()
                        .map(|(index, value)| (value.with((index + 1).to_string()), value))
                        .collect()
                }),
                (false, false) => section.pairs(document, "values"),
                (true, false) => {
                    let expected = "a table that says which flows are which, such as { 5001 = \"cubic\" }: a list needs by = \"start\", whose order it gives";
                    section.wrong(document, "values", expected);
                    None
                }
                (false, true) => {
                    let expected = "a list, such as [\"cubic\", \"bbr\"]: of the flow that starts first, of the second, ...";
                    section.wrong(document, "values", expected);
                    None
                }
            };
            let other = section.text(document, "other");
            Some(FlowSection {
                label: label?,
                by: by?,
                values: values?,
                other,
            })
        })
        .collect()
}

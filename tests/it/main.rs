//! The crate from outside: the command, the tables, the layout, and numbers against the truth.
#![expect(
    clippy::print_stderr,
    reason = "a test whose captures are not there says so"
)]

mod accidents;
mod blocks;
mod cli;
mod cli_errors;
mod completions;
mod corpus;
mod cut_series;
mod damage;
mod dependencies;
mod directions;
mod filters;
mod formats;
mod fragments;
mod hostile;
mod kept_runs;
mod limits;
mod manifests;
mod measured;
mod measured_rows;
mod measured_series;
mod names_of_flows;
#[path = "../robust/noise.rs"]
mod noise;
mod out_of_order;
mod overwriting;
mod packed;
mod path;
mod path_pings;
mod path_said;
mod ping_chart;
mod places;
mod published;
mod readme;
mod repaired;
mod rooms;
mod schema;
mod signals;
mod studies;
mod study;
mod study_average;
mod study_flows_over_time;
mod study_long_windows;
mod study_mistakes;
mod study_names;
mod study_pages;
mod study_pairs;
mod study_parts;
mod study_queue;
mod study_split_paths;
mod study_summary;
mod study_truth;
mod study_warnings;
mod study_windows;
mod support;
mod synth;
mod truth;
mod udp;
mod udp_counted;
mod udp_spin;
mod udp_told;
mod untold;
#[path = "../support/wire.rs"]
mod wire;
mod workers;

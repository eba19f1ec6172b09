//! The checks of `tests/robust`, for the fuzzer.
#![allow(dead_code, reason = "the tests use other parts of the same files")]

#[path = "../../tests/robust/answers.rs"]
pub(crate) mod answers;
#[path = "../../tests/robust/checks.rs"]
mod checks_of_tests;
#[path = "../../tests/robust/crossings.rs"]
pub(crate) mod crossings;
#[path = "../../tests/robust/packets.rs"]
pub(crate) mod packets;

/// One function a target.
pub mod checks {
    /// Capture files of any format.
    pub fn capture(file: &[u8]) {
        super::checks_of_tests::capture(file);
    }

    /// Single packets.
    pub fn decoded(input: &[u8]) {
        super::checks_of_tests::decoded(input);
    }

    /// Scripts of packets.
    pub fn track(script: &[u8]) {
        super::checks_of_tests::track(script);
    }

    /// Capture files up to their results.
    pub fn pipeline(file: &[u8]) {
        super::checks_of_tests::pipeline(file);
    }

    /// Scripts of what happens between two points.
    pub fn path(script: &[u8]) {
        super::crossings::path(script);
    }

    /// Filter expressions.
    pub fn filter(expression: &[u8]) {
        super::checks_of_tests::filter(expression);
    }
}

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ccanalyze_fuzz::checks::path(data));

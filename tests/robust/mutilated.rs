//! The captures of `testdata/`, cut short and with bytes flipped: a small part of what
//! `examples/mutilate` does with any captures.

use std::fs;
use std::path::Path;

use super::answers::analyze;

#[test]
fn mutilated_captures_give_results_that_hold() {
    let folder = Path::new("testdata/captures");
    let mut number = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |end: usize| {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        (number % end as u64) as usize
    };
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let whole = fs::read(path).unwrap();
        for _ in 0..4 {
            let cut = below(whole.len());
            // `analyze` looks that the results agree with each other.
            analyze(vec![whole[..cut].to_vec()], usize::MAX, 1, true);
            let mut flipped = whole.clone();
            for _ in 0..=below(8) {
                flipped[below(whole.len())] = below(256) as u8;
            }
            analyze(vec![flipped], usize::MAX, 1, true);
        }
    }
}

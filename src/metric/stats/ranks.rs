//! Values by their place among all.

/// The place of each value in ascending order, from 1.
pub(super) struct Ranks {
    /// In the order of the values; equal values share the mean of their places.
    pub(super) ranks: Vec<f64>,
    /// Sum of `t^3 - t` over every run of t equal values; 0 without ties.
    pub(super) ties: f64,
}

impl Ranks {
    pub(super) fn of(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let (mut ties, mut before) = (0.0, 0);
        // In ascending order, what is not below the next is equal to it.
        for run in order.chunk_by(|&a, &b| values[a] >= values[b]) {
            let length = run.len() as f64;
            let rank = before as f64 + f64::midpoint(length, 1.0);
            for &place in run {
                ranks[place] = rank;
            }
            ties += length.powi(3) - length;
            before += run.len();
        }
        Self { ranks, ties }
    }
}

//! What a competitor costs.

use super::ratio;

/// Which way a quantity is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Better {
    /// Goodput, utilisation.
    More,
    /// Delay, loss, completion time.
    Less,
}

/// Harm that competition does to a flow, from a quantity measured alone and in competition under
/// the same condition.
///
/// `(solo - contended) / solo` where more is better, `(contended - solo) / contended` where less
/// is better: 0 is no harm, 1 is everything lost; negative where competition did good. `None` where
/// the quantity divided by is not positive, or one of both is no finite number.
///
/// Source: definition N4 in METRICS.md; R. Ware, M. Mukerjee, S. Seshan, J. Sherry, Beyond Jain's
/// Fairness Index, ACM Workshop on Hot Topics in Networks (2019).
#[must_use]
pub fn harm(solo: f64, contended: f64, better: Better) -> Option<f64> {
    let (lost, whole) = match better {
        Better::More => (solo - contended, solo),
        Better::Less => (contended - solo, contended),
    };
    ratio(lost, whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_the_lost_share_whichever_way_is_good() {
        for (solo, contended, better, expected) in [
            // 10 Mbit/s alone, 4 beside a competitor.
            (10e6, 4e6, Better::More, Some(0.6)),
            // A download of 2 s takes 8 s.
            (2.0, 8.0, Better::Less, Some(0.75)),
            (5.0, 5.0, Better::More, Some(0.0)),
            (5.0, 0.0, Better::More, Some(1.0)),
            (4.0, 5.0, Better::More, Some(-0.25)),
            (0.0, 5.0, Better::More, None),
            (0.0, 0.0, Better::Less, None),
        ] {
            assert_eq!(
                harm(solo, contended, better),
                expected,
                "{solo} {contended}"
            );
        }
    }
}

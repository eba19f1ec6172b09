//! What every bench of whole analyses is run over.

use super::{Format, Profile, Synth};

/// The kinds of traffic, by name; of so many packets each.
pub(crate) fn workloads(packets: u64) -> Vec<(&'static str, Synth)> {
    let mix = Synth::new(Profile::Mix, packets).snapped();
    let pcapng = Synth {
        format: Format::Pcapng,
        ..mix
    };
    let snapped = |profile| Synth::new(profile, packets).snapped();
    vec![
        ("bulk, full size", Synth::new(Profile::Bulk, packets)),
        ("mix, 96 bytes", mix),
        ("mix, 96 bytes, pcapng", pcapng),
        ("one flow, 96 bytes", snapped(Profile::One)),
        ("storm of ACKs", Synth::new(Profile::Acks, packets)),
        ("ugly, 96 bytes", snapped(Profile::Ugly)),
    ]
}

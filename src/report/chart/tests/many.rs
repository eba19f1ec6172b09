//! What is said of flows over time.

use super::*;

#[test]
fn flows_that_are_one_line_of_goodput_are_not_said_to_be_missing_there() {
    let flows = (1..=10).map(|host| download(host, 0, if host == 10 { 2 } else { 300 }, |_| false));
    let packets: Vec<_> = flows.collect::<Vec<_>>().concat();
    with_scene(packets, |scene, options| {
        let all = over_time::four(scene, options).unwrap();
        let said =
            "2 smaller flows in the panel of goodput alone, as one line, 1 of them under 1 %";
        let found = texts(&all).join(" ");
        assert!(
            found.contains(said) && found.contains("other (2 flows)"),
            "{found}"
        );
        // On its own it is told what it lacks.
        let rtt = alone(over_time::rtt(scene, options), scene).unwrap();
        assert!(
            texts(&rtt)
                .join(" ")
                .contains("2 smaller flows not drawn, 1 of them")
        );
    });
}

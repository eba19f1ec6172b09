//! What the numbers were measured on.

use std::fs;

/// Processor, cores, memory, kernel and how busy it was, in a sentence.
pub(crate) fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field("model name").unwrap_or_else(|| "a processor without a name".to_owned());
    let family: Vec<String> = ["cpu family", "model\t", "stepping"]
        .into_iter()
        .filter_map(field)
        .collect();
    let mhz = field("cpu MHz").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = read("/proc/meminfo");
    let kilobytes = memory
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(0);
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    format!(
        "{processor} (family, model, stepping {}; {mhz} MHz), {cores} cores, {} GiB of memory, Linux {}; load average at the end {}",
        family.join(", "),
        kilobytes >> 20,
        kernel.trim(),
        load.split_whitespace().next().unwrap_or("unknown"),
    )
}

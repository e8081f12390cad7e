//! What `/proc` and `/sys` tell. On other systems every file is missing and nothing is filled in.

use super::{Cache, Machine};
use std::fs::read_to_string;
use std::path::Path;

/// First line of a file, trimmed.
pub fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = read_to_string(path).ok()?;
    let text = text.lines().next()?.trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// The value of `key` in `/proc/cpuinfo`'s first processor.
pub fn cpuinfo(key: &str) -> Option<String> {
    let text = read_to_string("/proc/cpuinfo").ok()?;
    let found = text.lines().find_map(|l| {
        let (k, v) = l.split_once(':')?;
        (k.trim() == key).then(|| v.trim().to_string())
    });
    found.filter(|v| !v.is_empty())
}

/// The frequency of one CPU now, in MHz.
pub fn mhz(cpu: usize) -> Option<f64> {
    let khz = line(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"));
    khz.and_then(|k| k.parse::<f64>().ok())
        .map(|k| k / 1000.0)
        .or_else(|| cpuinfo("cpu MHz").and_then(|m| m.parse().ok()))
}

/// Load averages.
pub fn load() -> Option<[f64; 3]> {
    let text = line("/proc/loadavg")?;
    let mut numbers = text.split_whitespace().map_while(|w| w.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// How many CPUs' worth of work the whole machine has done since the two readings of `/proc/stat`.
pub fn busy_cpus(over: std::time::Duration) -> Option<f64> {
    let before = cpu_times()?;
    std::thread::sleep(over);
    let after = cpu_times()?;
    let (busy, all) = (after.0.checked_sub(before.0)?, after.1.checked_sub(before.1)?);
    let cpus = read_to_string("/proc/stat").ok()?.lines().filter(|l| l.starts_with("cpu")).count() - 1;
    (all > 0).then(|| busy as f64 / all as f64 * cpus as f64)
}

/// Ticks spent working, and all ticks, summed over the CPUs.
fn cpu_times() -> Option<(u64, u64)> {
    let text = line("/proc/stat")?;
    let ticks: Vec<u64> =
        text.strip_prefix("cpu")?.split_whitespace().map_while(|w| w.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; the guest columns after them are in user already.
    let all: u64 = ticks.iter().take(8).sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    Some((all.checked_sub(idle)?, all))
}

/// Fills in what is there.
pub fn fill(m: &mut Machine) {
    if let Some(model) = cpuinfo("model name").or_else(|| cpuinfo("cpu model")) {
        m.cpu = model;
    }
    if let Some(release) = line("/proc/sys/kernel/osrelease") {
        m.kernel = format!("{} {release}", std::env::consts::OS);
    }
    m.memory = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let kib = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?.split_whitespace().next()?;
        kib.parse::<u64>().ok()?.checked_mul(1024)
    });
    m.governor = line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    m.mhz_before = mhz(0);
    m.load = load();
    m.busy_cpus = busy_cpus(std::time::Duration::from_millis(200));
    m.hypervisor = line("/sys/hypervisor/type");
    m.sve_bits = line("/proc/sys/abi/sve_default_vector_length")
        .and_then(|bytes| bytes.parse::<u32>().ok())
        .map(|b| b.saturating_mul(8));
    caches(m);
    cores(m);
}

fn caches(m: &mut Machine) {
    for index in 0..8 {
        let at = |file: &str| line(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}"));
        let (Some(level), Some(kind), Some(size)) = (at("level"), at("type"), at("size")) else { break };
        let name = match kind.as_str() {
            "Instruction" => continue,
            "Data" => format!("L{level}d"),
            _ => format!("L{level}"),
        };
        let kib: u64 = size.trim_end_matches('K').parse().unwrap_or(0);
        let shared_by = at("shared_cpu_list").map_or(1, |list| count_list(&list));
        m.caches.insert(name, Cache { bytes: kib * 1024, shared_by });
    }
}

/// How many numbers a list such as `0-3,8` names.
fn count_list(list: &str) -> usize {
    let span = |part: &str| -> Option<usize> {
        let (a, b) = part.split_once('-').unwrap_or((part, part));
        Some(b.trim().parse::<usize>().ok()?.checked_sub(a.trim().parse().ok()?)? + 1)
    };
    list.split(',').filter_map(span).sum()
}

fn cores(m: &mut Machine) {
    let mut seen = std::collections::BTreeSet::new();
    for cpu in 0..m.cpus.max(1) * 2 {
        let at = |file: &str| line(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{file}"));
        if let (Some(package), Some(core)) = (at("physical_package_id"), at("core_id")) {
            seen.insert((package, core));
        }
    }
    m.cores = (!seen.is_empty()).then_some(seen.len());
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_are_counted() {
        assert_eq!(super::count_list("0-3,8"), 5);
        assert_eq!(super::count_list("7"), 1);
        assert_eq!(super::count_list("x"), 0);
    }
}

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

/// The value of `key` in the section of `/proc/cpuinfo` about one CPU, or in any other section: cores of several
/// kinds differ, and some kernels state common things once.
pub fn cpuinfo(cpu: usize, key: &str) -> Option<String> {
    value_of(&read_to_string("/proc/cpuinfo").ok()?, cpu, key)
}

fn value_of(text: &str, cpu: usize, key: &str) -> Option<String> {
    let value = |section: &str, key: &str| {
        section.lines().find_map(|l| {
            let (k, v) = l.split_once(':')?;
            (k.trim() == key && !v.trim().is_empty()).then(|| v.trim().to_string())
        })
    };
    let mine = |section: &&str| value(section, "processor").is_some_and(|n| n == cpu.to_string());
    let own = text.split("\n\n").find(mine).and_then(|section| value(section, key));
    own.or_else(|| value(text, key))
}

/// The frequency of one CPU now, in MHz.
pub fn mhz(cpu: usize) -> Option<f64> {
    let khz = line(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"));
    khz.and_then(|k| k.parse::<f64>().ok())
        .map(|k| k / 1000.0)
        .or_else(|| cpuinfo(cpu, "cpu MHz").and_then(|m| m.parse().ok()))
}

/// Load averages.
pub fn load() -> Option<[f64; 3]> {
    let text = line("/proc/loadavg")?;
    let mut numbers = text.split_whitespace().map_while(|w| w.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// What `/proc/stat` says of all CPUs together, in the kernel's ticks.
pub struct CpuTimes {
    busy: u64,
    all: u64,
    cpus: usize,
}

/// Ticks since the machine started.
pub fn cpu_times() -> Option<CpuTimes> {
    let text = read_to_string("/proc/stat").ok()?;
    let cpus = text.lines().filter(|l| l.starts_with("cpu")).count().checked_sub(1)?;
    let total = text.lines().next()?.strip_prefix("cpu")?;
    let ticks: Vec<u64> = total.split_whitespace().map_while(|w| w.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; the guest columns after them are in user already.
    let all: u64 = ticks.iter().take(8).sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    Some(CpuTimes { busy: all.checked_sub(idle)?, all, cpus })
}

/// CPUs' worth of work between two readings, less `own` ticks.
pub fn busy_between(before: &CpuTimes, after: &CpuTimes, own: u64) -> Option<f64> {
    let (busy, all) = (after.busy.checked_sub(before.busy)?, after.all.checked_sub(before.all)?);
    (all > 0).then(|| busy.saturating_sub(own) as f64 / all as f64 * after.cpus as f64)
}

/// CPUs' worth of work that the whole machine does in the time given.
pub fn busy_cpus(over: std::time::Duration) -> Option<f64> {
    let before = cpu_times()?;
    std::thread::sleep(over);
    busy_between(&before, &cpu_times()?, 0)
}

/// Ticks that this process and its running children (engines that are programs) have used.
pub fn own_ticks() -> Option<u64> {
    let own = line("/proc/self/stat").and_then(|text| used(&text))?;
    let tasks = std::fs::read_dir("/proc/self/task").ok()?.filter_map(Result::ok);
    let lists = tasks.filter_map(|task| read_to_string(task.path().join("children")).ok());
    let children = lists.flat_map(|list| list.split_whitespace().map(String::from).collect::<Vec<_>>());
    let theirs = children.filter_map(|pid| used(&line(format!("/proc/{pid}/stat"))?)).sum::<u64>();
    own.checked_add(theirs)
}

/// User, system, and waited-for children's time of a line of `/proc/PID/stat`.
fn used(stat: &str) -> Option<u64> {
    // The second field is a name in parentheses, which may hold anything.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    Some(fields.filter_map(|f| f.parse::<u64>().ok()).sum())
}

/// Fills in what is there; what differs between cores is said of `cpu`.
pub fn fill(m: &mut Machine, cpu: usize) {
    if let Some(model) = cpuinfo(cpu, "model name").or_else(|| cpuinfo(cpu, "cpu model")) {
        m.cpu = model;
    }
    if let Some(release) = line("/proc/sys/kernel/osrelease") {
        m.kernel = format!("{} {release}", std::env::consts::OS);
    }
    m.memory = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let kib = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?.split_whitespace().next()?;
        kib.parse::<u64>().ok()?.checked_mul(1024)
    });
    m.governor = line(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"));
    m.mhz_before = mhz(cpu);
    m.load = load();
    m.busy_cpus = busy_cpus(std::time::Duration::from_millis(200));
    m.hypervisor = line("/sys/hypervisor/type");
    m.sve_bits = line("/proc/sys/abi/sve_default_vector_length")
        .and_then(|bytes| bytes.parse::<u32>().ok())
        .map(|b| b.saturating_mul(8));
    caches(m, cpu);
    cores(m);
}

fn caches(m: &mut Machine, cpu: usize) {
    for index in 0..8 {
        let at = |file: &str| line(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{file}"));
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
    fn cores_of_several_kinds_are_told_apart() {
        let text =
            "processor\t: 0\nCPU part\t: 0xd05\n\nprocessor\t: 7\nCPU part\t: 0xd44\n\nHardware\t: X\n";
        let value = |cpu, key| super::value_of(text, cpu, key);
        assert_eq!(value(0, "CPU part").as_deref(), Some("0xd05"));
        assert_eq!(value(7, "CPU part").as_deref(), Some("0xd44"));
        assert_eq!(value(7, "Hardware").as_deref(), Some("X"));
        assert_eq!(value(7, "none"), None);
    }

    #[test]
    fn times_of_a_process_are_found_behind_any_name() {
        let stat = "7 (a) b (c) R 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0";
        assert_eq!(super::used(stat), Some(127));
        assert_eq!(super::used("nothing"), None);
    }

    #[test]
    fn lists_are_counted() {
        assert_eq!(super::count_list("0-3,8"), 5);
        assert_eq!(super::count_list("7"), 1);
        assert_eq!(super::count_list("x"), 0);
    }
}

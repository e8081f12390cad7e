//! aarch64: implementer and part numbers of `/proc/cpuinfo` (or the MIDR register's file in `/sys`).

use super::{Machine, linux};

/// Fills in names and instruction sets; does nothing on other architectures.
pub fn fill(m: &mut Machine, cpu: usize) {
    if m.arch != "aarch64" {
        return;
    }
    let field = |key: &str| linux::cpuinfo(cpu, key);
    let midr = linux::line(format!("/sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1"))
        .and_then(|t| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok());
    let number = |key: &str, shift: u32, mask: u64| {
        let told = field(key).and_then(|t| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok());
        told.or_else(|| midr.map(|r| midr_field(r, shift, mask)))
    };
    let implementer = number("CPU implementer", 24, 0xFF);
    let part = number("CPU part", 4, 0xFFF);
    for (key, value) in [("implementer", implementer), ("part", part)] {
        if let Some(v) = value {
            m.identity.insert(key.into(), format!("{v:#x}"));
        }
    }
    for key in ["CPU variant", "CPU revision"] {
        if let Some(v) = field(key) {
            m.identity.insert(key.trim_start_matches("CPU ").into(), v);
        }
    }
    if let (Some(implementer), Some(part)) = (implementer, part) {
        let (company, core) = names(implementer, part);
        m.microarchitecture = core.map(String::from);
        if m.cpu.is_empty() {
            m.cpu = format!("{} {}", company, core.map_or(format!("part {part:#x}"), String::from));
        }
    }
    if cfg!(target_os = "macos") && m.cpu.is_empty() {
        m.cpu = "Apple".into();
    }
    m.isa_os =
        field("Features").map(|f| f.split_whitespace().map(String::from).collect()).unwrap_or_default();
    m.isa_cpu = m.isa_os.clone();
    if !m.isa_os.iter().any(|s| s == "sve") {
        m.sve_bits = None;
    }
}

/// Lines of an implementer, a part (`-` for the company itself) and a name, in their order.
const CORES: &str = include_str!("arm-cores.txt");

/// The numbers and names of [`CORES`].
fn cores() -> impl Iterator<Item = (u64, Option<u64>, &'static str)> {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    CORES.lines().filter_map(move |line| {
        let mut words = line.splitn(3, ' ');
        Some((number(words.next()?)?, number(words.next()?), words.next()?))
    })
}

/// QEMU's own design, `-cpu max` without hardware virtualisation, names itself: implementer 0, part 'Q'.
pub fn is_qemu(m: &Machine) -> bool {
    let told = |key: &str| m.identity.get(key).map(String::as_str);
    m.arch == "aarch64" && told("implementer") == Some("0x0") && told("part") == Some("0x51")
}

fn names(implementer: u64, part: u64) -> (&'static str, Option<&'static str>) {
    let name = |part| cores().find(|(i, p, _)| (*i, *p) == (implementer, part)).map(|(_, _, name)| name);
    (name(None).unwrap_or("unknown implementer"), name(Some(part)))
}

/// A field of the 64-bit main ID register.
fn midr_field(register: u64, shift: u32, mask: u64) -> u64 {
    (register >> shift) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names() {
        assert_eq!(names(0x41, 0xD0C), ("Arm", Some("Neoverse-N1")));
        assert_eq!(names(0x41, 0xD40), ("Arm", Some("Neoverse-V1")));
        assert_eq!(names(0x41, 0xD4F), ("Arm", Some("Neoverse-V2")));
        assert_eq!(names(0x41, 0xD0B), ("Arm", Some("Cortex-A76")));
        assert_eq!(names(0x61, 0x023), ("Apple", Some("Apple M1, performance core")));
        assert_eq!(names(0x46, 0x001), ("Fujitsu", Some("A64FX")));
        assert_eq!(names(0x41, 0xFFF), ("Arm", None));
        assert_eq!(names(0x99, 0xD0C), ("unknown implementer", None));
    }

    #[test]
    fn every_line_is_read_once_and_has_its_company() {
        let all: Vec<_> = cores().collect();
        assert_eq!(all.len(), CORES.lines().count());
        assert!(
            all.iter().all(|(i, ..)| all.iter().any(|(company, part, _)| company == i && part.is_none()))
        );
        assert!(all.iter().enumerate().all(|(n, a)| all[..n].iter().all(|b| (a.0, a.1) != (b.0, b.1))));
    }

    /// The register of a Graviton 3 core: Arm, part 0xD40.
    #[test]
    fn the_register_is_taken_apart() {
        let register = 0x411F_D401;
        assert_eq!((midr_field(register, 24, 0xFF), midr_field(register, 4, 0xFFF)), (0x41, 0xD40));
    }
}

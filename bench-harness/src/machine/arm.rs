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

/// Implementers, by the number in the main ID register.
const COMPANIES: [(u64, &str); 13] = [
    (0x41, "Arm"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4E, "Nvidia"),
    (0x50, "AppliedMicro"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x61, "Apple"),
    (0x6D, "Microsoft"),
    (0x70, "Phytium"),
    (0xC0, "Ampere"),
];

/// Cores, by implementer and part.
const CORES: [(u64, u64, &str); 72] = [
    (0x41, 0xD01, "Cortex-A32"),
    (0x41, 0xD02, "Cortex-A34"),
    (0x41, 0xD03, "Cortex-A53"),
    (0x41, 0xD04, "Cortex-A35"),
    (0x41, 0xD05, "Cortex-A55"),
    (0x41, 0xD06, "Cortex-A65"),
    (0x41, 0xD07, "Cortex-A57"),
    (0x41, 0xD08, "Cortex-A72"),
    (0x41, 0xD09, "Cortex-A73"),
    (0x41, 0xD0A, "Cortex-A75"),
    (0x41, 0xD0B, "Cortex-A76"),
    (0x41, 0xD0C, "Neoverse-N1"),
    (0x41, 0xD0D, "Cortex-A77"),
    (0x41, 0xD0E, "Cortex-A76AE"),
    (0x41, 0xD40, "Neoverse-V1"),
    (0x41, 0xD41, "Cortex-A78"),
    (0x41, 0xD42, "Cortex-A78AE"),
    (0x41, 0xD43, "Cortex-A65AE"),
    (0x41, 0xD44, "Cortex-X1"),
    (0x41, 0xD46, "Cortex-A510"),
    (0x41, 0xD47, "Cortex-A710"),
    (0x41, 0xD48, "Cortex-X2"),
    (0x41, 0xD49, "Neoverse-N2"),
    (0x41, 0xD4A, "Neoverse-E1"),
    (0x41, 0xD4B, "Cortex-A78C"),
    (0x41, 0xD4C, "Cortex-X1C"),
    (0x41, 0xD4D, "Cortex-A715"),
    (0x41, 0xD4E, "Cortex-X3"),
    (0x41, 0xD4F, "Neoverse-V2"),
    (0x41, 0xD80, "Cortex-A520"),
    (0x41, 0xD81, "Cortex-A720"),
    (0x41, 0xD82, "Cortex-X4"),
    (0x41, 0xD83, "Neoverse-V3AE"),
    (0x41, 0xD84, "Neoverse-V3"),
    (0x41, 0xD85, "Cortex-X925"),
    (0x41, 0xD87, "Cortex-A725"),
    (0x41, 0xD88, "Cortex-A520AE"),
    (0x41, 0xD89, "Cortex-A720AE"),
    (0x41, 0xD8E, "Neoverse-N3"),
    (0x42, 0x516, "ThunderX2"),
    (0x43, 0x0A1, "ThunderX"),
    (0x43, 0x0AF, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xD01, "Kunpeng 920 (TaiShan v110)"),
    (0x4E, 0x000, "Denver"),
    (0x4E, 0x003, "Denver 2"),
    (0x4E, 0x004, "Carmel"),
    (0x50, 0x000, "X-Gene"),
    (0x51, 0x001, "Oryon"),
    (0x51, 0x800, "Kryo 2xx Gold (Cortex-A73)"),
    (0x51, 0x801, "Kryo 2xx Silver (Cortex-A53)"),
    (0x51, 0x802, "Kryo 3xx Gold (Cortex-A75)"),
    (0x51, 0x803, "Kryo 3xx Silver (Cortex-A55)"),
    (0x51, 0x804, "Kryo 4xx Gold (Cortex-A76)"),
    (0x51, 0x805, "Kryo 4xx Silver (Cortex-A55)"),
    (0x51, 0xC00, "Falkor"),
    (0x61, 0x022, "Apple M1, efficiency core"),
    (0x61, 0x023, "Apple M1, performance core"),
    (0x61, 0x024, "Apple M1 Pro, efficiency core"),
    (0x61, 0x025, "Apple M1 Pro, performance core"),
    (0x61, 0x028, "Apple M1 Max, efficiency core"),
    (0x61, 0x029, "Apple M1 Max, performance core"),
    (0x61, 0x032, "Apple M2, efficiency core"),
    (0x61, 0x033, "Apple M2, performance core"),
    (0x61, 0x034, "Apple M2 Pro, efficiency core"),
    (0x61, 0x035, "Apple M2 Pro, performance core"),
    (0x61, 0x038, "Apple M2 Max, efficiency core"),
    (0x61, 0x039, "Apple M2 Max, performance core"),
    (0x6D, 0xD49, "Neoverse-N2 (Azure Cobalt 100)"),
    (0xC0, 0xAC3, "Ampere-1"),
    (0xC0, 0xAC4, "Ampere-1A"),
    (0xC0, 0xAC5, "Ampere-1B"),
];

/// QEMU's own design, `-cpu max` without hardware virtualisation, names itself: implementer 0, part 'Q'.
pub fn is_qemu(m: &Machine) -> bool {
    let told = |key: &str| m.identity.get(key).map(String::as_str);
    m.arch == "aarch64" && told("implementer") == Some("0x0") && told("part") == Some("0x51")
}

fn names(implementer: u64, part: u64) -> (&'static str, Option<&'static str>) {
    let company = COMPANIES.iter().find(|(n, _)| *n == implementer);
    let core = CORES.iter().find(|(i, p, _)| (*i, *p) == (implementer, part));
    (company.map_or("unknown implementer", |(_, name)| name), core.map(|(_, _, name)| *name))
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
    fn tables_are_in_order_and_complete() {
        assert!(CORES.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
        assert!(COMPANIES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(CORES.iter().all(|(i, _, _)| COMPANIES.iter().any(|(n, _)| n == i)));
    }

    /// The register of a Graviton 3 core: Arm, part 0xD40.
    #[test]
    fn the_register_is_taken_apart() {
        let register = 0x411F_D401;
        assert_eq!((midr_field(register, 24, 0xFF), midr_field(register, 4, 0xFFF)), (0x41, 0xD40));
    }
}

//! aarch64: implementer and part numbers of `/proc/cpuinfo` (or the MIDR register's file in `/sys`).

use super::{Machine, linux};

/// Fills in names and instruction sets; does nothing on other architectures.
pub fn fill(m: &mut Machine) {
    if m.arch != "aarch64" {
        return;
    }
    let field = |key: &str| linux::cpuinfo(key);
    let midr = linux::line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1")
        .and_then(|t| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok());
    let number = |key: &str, shift: u32, mask: u64| {
        let told = field(key).and_then(|t| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok());
        told.or_else(|| midr.map(|r| (r >> shift) & mask))
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

fn names(implementer: u64, part: u64) -> (&'static str, Option<&'static str>) {
    let company = match implementer {
        0x41 => "Arm",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4E => "Nvidia",
        0x51 => "Qualcomm",
        0x61 => "Apple",
        0x6D => "Microsoft",
        0xC0 => "Ampere",
        _ => "unknown implementer",
    };
    let core = match (implementer, part) {
        (0x41, 0xD03) => "Cortex-A53",
        (0x41, 0xD04) => "Cortex-A35",
        (0x41, 0xD05) => "Cortex-A55",
        (0x41, 0xD07) => "Cortex-A57",
        (0x41, 0xD08) => "Cortex-A72",
        (0x41, 0xD09) => "Cortex-A73",
        (0x41, 0xD0A) => "Cortex-A75",
        (0x41, 0xD0B) => "Cortex-A76",
        (0x41, 0xD0C) => "Neoverse-N1",
        (0x41, 0xD0D) => "Cortex-A77",
        (0x41, 0xD40) => "Neoverse-V1",
        (0x41, 0xD41) => "Cortex-A78",
        (0x41, 0xD44) => "Cortex-X1",
        (0x41, 0xD46) => "Cortex-A510",
        (0x41, 0xD47) => "Cortex-A710",
        (0x41, 0xD48) => "Cortex-X2",
        (0x41, 0xD49) => "Neoverse-N2",
        (0x41, 0xD4A) => "Neoverse-E1",
        (0x41, 0xD4D) => "Cortex-A715",
        (0x41, 0xD4E) => "Cortex-X3",
        (0x41, 0xD4F) => "Neoverse-V2",
        (0x41, 0xD80) => "Cortex-A520",
        (0x41, 0xD81) => "Cortex-A720",
        (0x41, 0xD82) => "Cortex-X4",
        (0x41, 0xD84) => "Neoverse-V3",
        (0x41, 0xD8E) => "Neoverse-N3",
        (0x46, 0x001) => "A64FX",
        (0x48, 0xD01) => "Kunpeng 920",
        (0x51, 0x001) => "Oryon",
        (0x61, 0x022 | 0x024 | 0x028) => "Apple M1, efficiency core",
        (0x61, 0x023 | 0x025 | 0x029) => "Apple M1, performance core",
        (0x61, 0x032 | 0x034 | 0x038) => "Apple M2, efficiency core",
        (0x61, 0x033 | 0x035 | 0x039) => "Apple M2, performance core",
        (0xC0, 0xAC3) => "Ampere-1",
        (0xC0, 0xAC4) => "Ampere-1A",
        _ => return (company, None),
    };
    (company, Some(core))
}

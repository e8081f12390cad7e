//! x86: CPUID for what the CPU has, `std` for what the operating system lets programs use.

use super::Machine;
use raw_cpuid::CpuId;

/// Fills in brand, identity, instruction sets, hypervisor and microarchitecture.
pub fn fill(m: &mut Machine) {
    let id = CpuId::new();
    if let Some(brand) = id.get_processor_brand_string() {
        m.cpu = brand.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let vendor = id.get_vendor_info().map(|v| v.as_str().to_string()).unwrap_or_default();
    if let Some(f) = id.get_feature_info() {
        let (family, model) = (f.family_id(), f.model_id());
        m.identity.insert("vendor".into(), vendor.clone());
        m.identity.insert("family".into(), family.to_string());
        m.identity.insert("model".into(), model.to_string());
        m.identity.insert("stepping".into(), f.stepping_id().to_string());
        // A hypervisor may give another model than the CPU is of: what that one cannot do gives it away.
        let newer = id.get_extended_feature_info().is_some_and(|f| f.has_avx512_fp16());
        m.microarchitecture = microarchitecture(&vendor, family.into(), model.into())
            .filter(|name| !newer || has_avx512_fp16(name))
            .map(String::from);
    }
    [m.isa_cpu, m.isa_os] = sets(&id);
    if let Some(h) = id.get_hypervisor_info() {
        m.hypervisor = Some(format!("{:?}", h.identify()));
    }
}

/// Instruction sets that the CPU has, and those that the operating system lets programs use.
fn sets(id: &CpuId<raw_cpuid::CpuIdReaderNative>) -> [Vec<String>; 2] {
    let (basic, extended) = (id.get_feature_info(), id.get_extended_feature_info());
    let (mut cpu, mut os) = (Vec::new(), Vec::new());
    macro_rules! sets {
        ($($leaf:ident $has:ident $name:tt),*) => {$(
            cpu.extend($leaf.as_ref().is_some_and(|f| f.$has()).then(|| $name.to_string()));
            os.extend(std::is_x86_feature_detected!($name).then(|| $name.to_string()));
        )*};
    }
    sets!(basic has_sse2 "sse2", basic has_ssse3 "ssse3", basic has_sse41 "sse4.1", basic has_avx "avx");
    sets!(extended has_avx2 "avx2", extended has_bmi2 "bmi2", extended has_gfni "gfni");
    sets!(extended has_avx512f "avx512f", extended has_avx512bw "avx512bw", extended has_avx512vl "avx512vl");
    sets!(extended has_avx512vbmi "avx512vbmi", extended has_avx512vbmi2 "avx512vbmi2");
    [cpu, os]
}

/// Whether CPUs of this microarchitecture have the half-precision instructions of AVX-512.
fn has_avx512_fp16(name: &str) -> bool {
    matches!(name, "Sapphire Rapids" | "Emerald Rapids" | "Granite Rapids")
}

/// Names from the vendors' revision guides; `None` where this table does not know better.
fn microarchitecture(vendor: &str, family: u32, model: u32) -> Option<&'static str> {
    Some(match (vendor, family, model) {
        ("AuthenticAMD" | "HygonGenuine", 0x17, 0x00..=0x0F | 0x11 | 0x18 | 0x20) => "Zen/Zen+",
        ("AuthenticAMD", 0x17, 0x30..=0xFF) => "Zen 2",
        ("AuthenticAMD", 0x19, 0x10..=0x1F | 0x60..=0x7F | 0xA0..=0xAF) => "Zen 4",
        ("AuthenticAMD", 0x19, _) => "Zen 3",
        ("AuthenticAMD", 0x1A, _) => "Zen 5",
        ("GenuineIntel", 6, 0x3C | 0x3F | 0x45 | 0x46) => "Haswell",
        ("GenuineIntel", 6, 0x3D | 0x47 | 0x4F | 0x56) => "Broadwell",
        ("GenuineIntel", 6, 0x4E | 0x5E | 0x8E | 0x9E | 0xA5 | 0xA6) => "Skylake",
        ("GenuineIntel", 6, 0x55) => "Skylake-SP/Cascade Lake",
        ("GenuineIntel", 6, 0x6A | 0x6C) => "Ice Lake-SP",
        ("GenuineIntel", 6, 0x7D | 0x7E) => "Ice Lake",
        ("GenuineIntel", 6, 0x8C | 0x8D) => "Tiger Lake",
        ("GenuineIntel", 6, 0xA7) => "Rocket Lake",
        ("GenuineIntel", 6, 0x97 | 0x9A) => "Alder Lake",
        ("GenuineIntel", 6, 0xB7 | 0xBA | 0xBF) => "Raptor Lake",
        ("GenuineIntel", 6, 0x8F) => "Sapphire Rapids",
        ("GenuineIntel", 6, 0xCF) => "Emerald Rapids",
        ("GenuineIntel", 6, 0xAA | 0xAC) => "Meteor Lake",
        ("GenuineIntel", 6, 0xAD | 0xAE) => "Granite Rapids",
        ("GenuineIntel", 6, 0xAF) => "Sierra Forest",
        _ => return None,
    })
}

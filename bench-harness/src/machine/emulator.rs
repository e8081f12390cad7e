//! Is this a CPU at all? Under an emulator or valgrind a time means nothing, and every row says so.

use super::{Machine, arm, linux};

/// The emulator's name.
pub fn detect(m: &Machine) -> Option<String> {
    // qemu-user: the process's command name is the emulator's own.
    let command = linux::line("/proc/self/comm").unwrap_or_default();
    if command.starts_with("qemu-") {
        return Some(command);
    }
    let executable = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let file = executable.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if file.starts_with("qemu-") {
        return Some(file);
    }
    if std::env::var_os("LD_PRELOAD").is_some_and(|v| v.to_string_lossy().contains("vgpreload")) {
        return Some("valgrind".into());
    }
    // Apple's translator of x86 programs.
    if m.cpu.contains("VirtualApple") {
        return Some("Rosetta".into());
    }
    // Full-system QEMU without hardware virtualisation.
    if m.hypervisor.as_deref().is_some_and(|h| h.contains("TCG") || h.contains("QEMU")) || arm::is_qemu(m) {
        return Some("QEMU TCG".into());
    }
    // An ARM program that reads the cpuinfo of an x86 host.
    let foreign = m.arch != "x86_64" && m.arch != "x86" && linux::cpuinfo(0, "vendor_id").is_some();
    (foreign && m.arch != "s390x" && m.arch != "loongarch64").then(|| "an emulator on an x86 host".into())
}

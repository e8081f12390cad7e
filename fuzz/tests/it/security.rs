//! The limits that `SECURITY.md` states are those of the code.

use blosc_frame::value::TextLimits;

fn line(name: &str) -> &'static str {
    let lines = include_str!("../../../SECURITY.md").lines();
    lines
        .into_iter()
        .find(|line| line.contains(&format!("`{name}`")))
        .unwrap_or_else(|| panic!("no line on {name}"))
}

#[track_caller]
fn states(name: &str, value: &str) {
    assert!(line(name).contains(&format!("| {value} |")), "{} instead of {value}", line(name));
}

fn gib(n: u64) -> String {
    format!("{} GiB", n >> 30)
}

fn mib(n: u64) -> String {
    format!("{} MiB", n >> 20)
}

fn power(n: u64) -> String {
    assert!(n.is_power_of_two());
    format!("2^{}", n.ilog2())
}

#[test]
fn limits_are_the_defaults() {
    let (chunk, container) = (blosc_core::Limits::default(), blosc_frame::Limits::default());
    assert_eq!(container.chunk, chunk);
    states("blosc_core::Limits::output", &gib(chunk.output));
    states("blosc_core::Limits::blocks", &power(chunk.blocks.into()));
    assert_eq!(chunk.expansion, u64::MAX);
    states("blosc_core::Limits::expansion", "none (`output` bounds it)");
    states("blosc_frame::Limits::chunks", &power(container.chunks));
    assert_eq!(container.index_expansion, 65_536);
    states("blosc_frame::Limits::index_expansion", "65 536");
    states("blosc_frame::Limits::expansion", &container.expansion.to_string());
    states("blosc_frame::Limits::entries", &power(container.entries));
    states("blosc_frame::Limits::memory", &mib(container.memory));
    states("blosc_frame::Limits::metalayer", &mib(container.metalayer));
    states("blosc_frame::Limits::metalayers", &mib(container.metalayers));
    states("blosc_frame::Limits::output", &gib(container.output));
    for (name, limits) in [("JSON", TextLimits::JSON), ("YAML", TextLimits::YAML)] {
        let (bytes, values) = (mib(limits.bytes as u64), power(limits.values.into()));
        let stated = format!("{bytes}, {} levels, {values} values", limits.depth);
        states(&format!("blosc_frame::value::TextLimits::{name}"), &stated);
    }
}

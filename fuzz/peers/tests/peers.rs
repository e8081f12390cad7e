//! Both comparisons on random inputs, the same each time.

use blosc_fuzz_peers::{Compared, blosc1, blosc2};
use blosc_testkit::Random;
use blosc_testkit::counts::count;

fn run(work: fn(&[u8]) -> Compared) -> Compared {
    let mut random = Random::new(7);
    let mut all = Compared::default();
    for _ in 0..count(3000) {
        all += work(&random.noise(64));
    }
    println!("{all:?}");
    all
}

#[test]
fn openreadout_reads_what_we_write() {
    let all = run(blosc1);
    assert!(all.equal > 100, "{all:?}");
    assert_eq!(all.wrong_there, 0, "{all:?}");
}

#[test]
fn blosc2_pure_reads_what_we_write_and_we_read_what_it_writes() {
    let all = run(blosc2);
    assert!(all.equal > 100, "{all:?}");
    assert_eq!(all.wrong_there, 0, "{all:?}");
}

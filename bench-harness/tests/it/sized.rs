//! Arrays at other sizes than their own, made of real ones.

use blosc_bench::data::Data;
use blosc_bench::data::corpus::{REAL, sha256_hex};

fn real(name: &str) -> Data {
    REAL.iter().find(|r| r.name == name).unwrap().array()
}

#[test]
fn names_say_what_was_done() {
    let camera = real("camera");
    assert_eq!(camera.sized(1000).name, "camera");
    assert_eq!(camera.repeated(1000).bytes, camera.sized(1000).bytes);
    let (reordered, verbatim) = (camera.sized(128 << 10), camera.repeated(128 << 10));
    assert_eq!((reordered.name.as_str(), verbatim.name.as_str()), ("camera~2", "camera*2"));
    assert_eq!((reordered.original(), verbatim.original()), ("camera", "camera"));
    assert_eq!((reordered.bytes.len(), verbatim.bytes.len()), (128 << 10, 128 << 10));
    assert_eq!(verbatim.bytes[..64 << 10], verbatim.bytes[64 << 10..]);
}

/// Real arrays, two of which (`sf_temps`, `lambda_dna`) end in a shorter piece.
#[test]
fn repetitions_hold_the_same_items_in_orders_of_their_own() {
    for data in REAL.iter().map(|r| r.array()) {
        let own = data.bytes.len();
        let large = data.sized(5 * own + 1000).bytes;
        assert_eq!(large.len(), 5 * own + 1000 - 1000 % data.typesize, "{}", data.name);
        assert_eq!(large[..own], data.bytes[..], "{}", data.name);
        let items = |repetition: &[u8]| {
            let mut items: Vec<Vec<u8>> = repetition.chunks(data.typesize).map(<[u8]>::to_vec).collect();
            items.sort_unstable();
            items
        };
        let repetitions: Vec<&[u8]> = large.chunks_exact(own).collect();
        for (index, one) in repetitions.iter().enumerate() {
            assert_eq!(items(one), items(&data.bytes), "{}", data.name);
            assert!(repetitions[index + 1..].iter().all(|other| other != one), "{}", data.name);
        }
    }
}

/// Every platform and every run makes the same bytes.
#[test]
fn orders_do_not_depend_on_the_platform() {
    let hash = || sha256_hex(&real("sf_temps").sized(1 << 20).bytes);
    assert_eq!(hash(), hash());
    assert_eq!(hash(), "65f2e944168178e17f7331e1518b4a17471e5fd0bfdceaf4245211b8a94edacd");
}

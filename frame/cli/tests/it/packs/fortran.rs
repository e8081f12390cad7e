//! The command on arrays whose items are stored in Fortran order.

use super::{Place, npy, numbers};
use std::process::Command;

/// Writes a NumPy file whose header says that its items are in Fortran order; returns its bytes.
fn fortran_npy(name: &str, descr: &str, shape: &str, items: &[u8], place: &Place) -> Vec<u8> {
    npy(name, descr, shape, items, place);
    let mut file = std::fs::read(place.path(name)).unwrap();
    let at = file.windows(5).position(|w| w == b"False").unwrap();
    file[at..at + 5].copy_from_slice(b"True ");
    place.write(name, &file);
    file
}

/// A bloscpack file of items in Fortran order, as bloscpack writes it: the metadata says so.
fn fortran_pack(dtype: &str, shape: &[u64], stored: &[u8]) -> Vec<u8> {
    let numpy = blosc_frame::bloscpack::Numpy {
        dtype: blosc_frame::b2nd::Dtype::parse(dtype).unwrap(),
        shape: shape.to_vec(),
        order: blosc_frame::bloscpack::Order::F,
    };
    let options = blosc_frame::bloscpack::Options::default().numpy(&numpy).unwrap();
    options.write(&mut blosc_core::Pool::new(1), &stored, Vec::new()).unwrap()
}

/// Runs a line of the shell in the folder.
#[cfg(target_os = "linux")]
fn shell(place: &Place, line: &str) -> std::process::Output {
    Command::new("sh").args(["-c", line]).current_dir(place.0.path()).output().unwrap()
}

/// Arrays in Fortran order: whatever reads or changes them counts in the order of their shape.
#[test]
fn fortran_order_is_logical_everywhere() {
    let place = Place::new();
    // numpy.asfortranarray(arange(12).reshape(3, 4)) of <i4.
    let stored: Vec<u8> =
        [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11i32].into_iter().flat_map(i32::to_le_bytes).collect();
    npy("c.npy", "'<i4'", "(3, 4)", &numbers(0..12), &place);
    let file = fortran_npy("f.npy", "'<i4'", "(3, 4)", &stored, &place);
    place.ok("compress f.npy -o f.b2nd");
    place.write("F.blp", &fortran_pack("<i4", &[3, 4], &stored));
    // Bytes without shape come as they are stored; whatever counts items, or has a shape, does so in C order.
    assert_eq!(place.ok("decompress F.blp -o -"), stored);
    assert_eq!(place.ok("decompress f.b2nd -o -"), numbers(0..12));
    place.ok("decompress F.blp -o F.npy");
    assert_eq!(std::fs::read(place.path("F.npy")).unwrap(), std::fs::read(place.path("c.npy")).unwrap());
    for (name, start, stop) in [("F.blp", "1", "2"), ("f.b2nd", "1,0", "2,4")] {
        let slice = format!("slice {name} --start {start} --stop {stop} -o -");
        assert_eq!(place.ok(&slice), numbers(4..8), "{name}");
    }
    let piped = |words: &str| {
        let words = words.split_whitespace();
        let file = std::fs::File::open(place.path("F.blp")).unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_blosc"))
            .args(words)
            .current_dir(place.0.path())
            .stdin(file)
            .output()
            .unwrap();
        assert!(out.status.success());
        out.stdout
    };
    assert_eq!(piped("decompress - -o -"), stored);
    assert_eq!(piped("slice - --start 1 --stop 3 -o -"), numbers(4..12));
    // Back to NumPy: the file that was compressed, bit for bit.
    place.ok("decompress f.b2nd -o back.npy");
    assert_eq!(std::fs::read(place.path("back.npy")).unwrap(), file);
    for (name, source) in [("a.b2nd", "F.blp"), ("b.b2nd", "f.npy"), ("c.blp", "f.npy"), ("d.blp", "F.blp")] {
        place.ok(&format!("convert {source} -o {name}"));
        assert_eq!(place.ok(&format!("decompress {name} -o -")), numbers(0..12), "{name}");
        let shape = place.info(name)["shape"].clone();
        assert_eq!(shape, serde_json::json!([3, 4]), "{name}");
    }
    // Items in Fortran order are added as the rows they are.
    place.write("row", &numbers(100..104));
    place.ok("set F.blp row --start 1 --stop 2");
    place.ok("append F.blp f.npy");
    let want = [numbers(0..4), numbers(100..104), numbers(8..12), numbers(0..12)].concat();
    assert_eq!(place.ok("decompress F.blp -o -"), want);
    assert_eq!(place.info("F.blp")["shape"], serde_json::json!([6, 4]));
}

/// A Fortran-order file becomes an array, a pack and a NumPy file again in less memory than it takes.
#[cfg(target_os = "linux")]
#[test]
fn fortran_order_is_transposed_in_bounded_memory() {
    let place = Place::new();
    let (side, most) = (12_000u64, 300_000); // 288 MB of items, 300 MB of address space
    let file = fortran_npy("f.npy", "'<i2'", &format!("({side}, {side})"), &[], &place);
    let sparse = std::fs::OpenOptions::new().write(true).open(place.path("f.npy")).unwrap();
    sparse.set_len(file.len() as u64 + side * side * 2).unwrap();
    npy("a.npy", "'<i2'", &format!("(1, {side})"), &vec![0; side as usize * 2], &place);
    place.ok("compress a.npy -o a.b2nd");
    for words in [
        "compress f.npy -o f.b2nd",
        "decompress f.b2nd -o back.npy",
        "compress f.npy -o f.blp",
        "append a.b2nd f.npy",
    ] {
        let threads = if words.starts_with("convert") { "" } else { "--threads 1" };
        let command = format!("ulimit -v {most}; exec {} {words} {threads}", env!("CARGO_BIN_EXE_blosc"));
        let out = shell(&place, &command);
        assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

/// A stream is appended to an array, and put into it, in less memory than its items take.
#[cfg(target_os = "linux")]
#[test]
fn streams_go_into_arrays_in_bounded_memory() {
    let place = Place::new();
    let (rows, most) = (9_000u64, 300_000); // 360 MB of items, 300 MB of address space
    npy("a.npy", "'<i4'", "(1, 10000)", &[0; 40_000], &place);
    place.ok("compress a.npy -o a.b2nd --chunks 100,10000 --blocks 10,10000");
    for (words, all) in [("append a.b2nd -", rows + 1), ("insert a.b2nd - --at 0", 2 * rows + 1)] {
        let blosc = env!("CARGO_BIN_EXE_blosc");
        let command =
            format!("head -c {} /dev/zero | (ulimit -v {most}; exec {blosc} {words})", rows * 40_000);
        let out = shell(&place, &command);
        assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
        assert_eq!(place.info("a.b2nd")["shape"], serde_json::json!([all, 10_000]));
    }
}

/// Parts of an array, backwards and with steps, are read and set in less memory than they take.
#[cfg(target_os = "linux")]
#[test]
fn slices_and_steps_take_bounded_memory() {
    let place = Place::new();
    let (blosc, most) = (env!("CARGO_BIN_EXE_blosc"), 300_000); // 300 MB of address space
    let zeros = |bytes: u64, words: &str| {
        format!("head -c {bytes} /dev/zero | (ulimit -v {most}; exec {blosc} {words} --threads 1)")
    };
    let all = "compress - -o a.b2nd --dtype <f8 --shape 6000,6000 --chunks 500,6000 --blocks 50,1000";
    for (words, bytes) in [
        // 288 MB
        (all, 288_000_000),
        ("slice a.b2nd --start 1,0 -o up.npy", 0),
        ("slice a.b2nd --step -1,-1 -o down.npy", 0),
        // 144 MB of 288 MB each
        ("set a.b2nd - --step 2,1", 144_000_000),
        ("set a.b2nd - --step -1,-2", 144_000_000),
    ] {
        let command = zeros(bytes, &words.replace("<f8", "'<f8'"));
        let out = shell(&place, &command);
        assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
    }
    let size = |name: &str| std::fs::metadata(place.path(name)).unwrap().len() - 128;
    assert_eq!((size("up.npy"), size("down.npy")), (5999 * 48_000, 288_000_000));
}

/// A compressed array in Fortran order that is too large to be held is decoded once, however many rows are asked for.
#[cfg(target_os = "linux")]
#[test]
fn fortran_order_is_decoded_once() {
    let place = Place::new();
    let (rows, columns) = (48u64, 1u64 << 20);
    // Half of the columns are zeros, which are left out of files; the other half have no byte that is zero.
    let row = |r: u32| {
        [0x0101_0101 * (r + 1), 0].map(|item| item.to_le_bytes().repeat(columns as usize / 2)).concat()
    };
    let column = (1..=rows as u32).flat_map(|r| (0x0101_0101 * r).to_le_bytes()).collect::<Vec<u8>>();
    let mut stored = column.repeat(columns as usize / 2);
    stored.resize(2 * stored.len(), 0);
    place.write("F.blp", &fortran_pack("<u4", &[rows, columns], &stored));
    let chunks = stored.len() >> 20;
    for words in ["convert F.blp -o F.b2nd", "decompress F.blp -o F.npy", "slice F.blp --start 1 -o -"] {
        let command = format!(
            "strace -f --seccomp-bpf -y -e trace=pread64 -o log {} {words}",
            env!("CARGO_BIN_EXE_blosc")
        );
        let out = shell(&place, &command);
        if !out.status.success() && !place.path("log").exists() {
            return eprintln!("SKIPPED: no strace that works here: how often chunks are read is not counted");
        }
        assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
        let log = std::fs::read_to_string(place.path("log")).unwrap();
        let reads = log.lines().filter(|line| line.contains("F.blp")).count();
        assert!(reads >= chunks && reads < 2 * chunks, "{words}: {reads} reads of {chunks} chunks");
        if words.starts_with("slice") {
            assert_eq!(out.stdout.len() as u64, (rows - 1) * columns * 4);
            let sliced = out.stdout.chunks_exact(columns as usize * 4).zip(1u32..);
            for (found, r) in sliced {
                assert!(found == row(r), "{words}: row {r}");
            }
        }
    }
    assert_eq!(
        place.ok("slice F.b2nd --start 7,9 --stop 8,11 -o - --plain"),
        [0x0808_0808u32; 2].map(u32::to_le_bytes).concat()
    );
}

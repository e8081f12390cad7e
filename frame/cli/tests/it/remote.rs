//! URLs: read where they are with the feature `remote`, refused with its name without it, and never written to.

use crate::common::Folder;

fn make(folder: &Folder) {
    // Numbers that do not repeat: more than the 64 KiB that opening fetches from each end.
    let raw: Vec<u8> = (0..60_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    folder.write("raw", &raw);
    folder.run(&["compress", "raw", "-o", "a.b2frame", "--chunksize", "8000", "--level", "0"]);
    folder.run(&[
        "compress", "raw", "-o", "a.b2nd", "--dtype", "<u4", "--shape", "300,200", "--chunks", "20,20",
    ]);
    folder.run(&["compress", "raw", "-o", "a.blp", "--chunksize", "8000"]);
    folder.run(&["convert", "a.b2nd", "-o", "a.b2z"]);
}

/// Verbs that write, and others that take files only: each says so, and neither asks a server nor leaves a file.
#[test]
fn urls_are_only_read() {
    let folder = Folder::new("remote-refused");
    make(&folder);
    let before = std::fs::read_dir(folder.root()).unwrap().count();
    // Port 1 has no server: who asked it would say that.
    let url = "http://127.0.0.1:1/a.b2nd";
    for words in [
        &["edit", url, "delete", "0"][..],
        &["meta", "set", "--vl", url, "unit", "--json", "1"],
        &["append", url, "raw"],
        &["set", url, "raw", "--start", "0,0"],
        &["insert", url, "raw", "--at", "0"],
        &["resize", url, "--shape", "1,1"],
        &["trim", url, "1"],
        &["compact", url],
        &["repair", url, "-o", "x.b2nd"],
        &["compress", url, "-o", "x.b2frame"],
        &["compress", "raw", "-o", url, "--dtype", "<u4", "--shape", "300,200"],
        &["convert", "a.b2nd", "-o", url],
        &["slice", "a.b2nd", "-o", "http://127.0.0.1:1/a.npy"],
        &["info", url, "--lock"],
    ] {
        let (status, text) = folder.fail(words);
        assert!(
            status == 2 && text.contains("URL") && text.contains("http://127.0.0.1:1/a"),
            "{words:?}: {status} {text}"
        );
    }
    assert_eq!(std::fs::read_dir(folder.root()).unwrap().count(), before);
}

#[test]
#[cfg(not(feature = "remote"))]
fn the_feature_is_named() {
    let folder = Folder::new("remote-off");
    for words in [
        &["info", "s3://bucket/a.b2nd"][..],
        &["s3://bucket/a.b2nd"],
        &["ls", "https://host/a.b2z"],
        &["slice", "https://host/a.b2z:/a", "-o", "-"],
        &["decompress", "s3://bucket/a.b2nd"],
    ] {
        let (status, text) = folder.fail(words);
        assert!(status == 1 && text.contains("--features remote"), "{words:?}: {text}");
    }
    let (status, text) = folder.fail(&["verify", "s3://bucket/a.b2nd"]);
    assert!(status == 3 && text.contains("--features remote"), "{text}");
}

#[cfg(feature = "remote")]
mod on {
    use super::make;
    use crate::common::Folder;
    use blosc_testkit::http::{Fault, Server};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Stdio};
    use std::sync::atomic::Ordering;

    /// Bytes, an array, a store and a bloscpack file, called `a.` with these extensions.
    const KINDS: [&str; 4] = ["b2frame", "b2nd", "b2z", "blp"];

    /// Kind of container x verb: what comes from a URL is what comes from the file.
    #[test]
    fn a_url_reads_as_its_file() {
        let folder = Folder::new("remote-verbs");
        make(&folder);
        for kind in KINDS {
            let name = format!("a.{kind}");
            let (server, url) = Server::start(Fault::None, &name, &folder.read(&name));
            let leaf = |store: &str| if kind == "b2z" { format!("{store}:/a") } else { store.to_string() };
            let verbs: [(&[&str], bool, &[&str]); 7] = [
                (&[], false, &[]),
                (&["info", "--all"], false, &[]),
                (&["ls"], false, &[]),
                (&["verify"], false, &[]),
                (&["slice"], true, &["--start", "7", "--stop", "11", "--plain", "-o", "-"]),
                (&["decompress"], true, &["-o", "-"]),
                (&["head"], true, &[]),
            ];
            for (verb, of_leaf, options) in verbs {
                if verb == ["head"] && !matches!(kind, "b2nd" | "b2z") {
                    continue;
                }
                let run = |store: &str| {
                    let name = if of_leaf { leaf(store) } else { store.to_string() };
                    let words: Vec<&str> =
                        verb.iter().chain([&name.as_str()]).chain(options).copied().collect();
                    let said = folder.run(&words);
                    String::from_utf8_lossy(&said).replace(store, "STORE")
                };
                let before = server.requests.load(Ordering::Relaxed);
                let far = run(&url);
                let requests = server.requests.load(Ordering::Relaxed) - before;
                println!("{name} {verb:?}: {requests} requests");
                // Arrays have 150 chunks and the frame 30; the bloscpack file lies in the ends, which opening fetches. Each
                // member of a store opens by itself, and twice to be verified.
                assert!(
                    requests <= if kind == "b2z" { 9 } else { 5 },
                    "{name} {verb:?}: {requests} requests"
                );
                assert_eq!(far, run(&name), "{name} {verb:?}");
            }
        }
        // A sparse frame is a directory, whose URL ends in a slash; each file of it is an object.
        {
            let convert = "sparse-frame";
            let how = ["--format", "sframe", "--chunksize", "8000", "--level", "0"];
            folder.run(&[&["compress", "raw", "-o", convert][..], &how].concat());
            let files =
                std::fs::read_dir(folder.path(convert)).unwrap().map(|file| file.unwrap().file_name());
            let files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
            let objects: Vec<_> =
                files.iter().map(|file| format!("d/{convert}/{file}")).zip(files.iter()).collect();
            let objects =
                objects.into_iter().map(|(url, file)| (url, folder.read(&format!("{convert}/{file}"))));
            let (server, root) = Server::of(Fault::None, objects.collect());
            let url = format!("{root}d/{convert}/");
            for (verb, options) in [
                (&[][..], &[][..]),
                (&["info", "--all"], &[]),
                (&["ls"], &[]),
                (&["verify"], &[]),
                (&["slice"], &["--start", "7", "--stop", "11", "--plain", "-o", "-"]),
                (&["decompress"], &["-o", "-"]),
            ] {
                let run = |place: &str| {
                    let words: Vec<&str> = verb.iter().chain([&place]).chain(options).copied().collect();
                    String::from_utf8_lossy(&folder.run(&words)).replace(place, "PLACE")
                };
                let (far, near) = (run(&url), run(convert));
                // How large the index file is does not count there, and no list tells of files that nothing refers to.
                let told = |text: &str| {
                    let of_size = |line: &&str| {
                        ["container", "garbage", "ratio"].iter().any(|name| line.contains(name))
                    };
                    text.lines().filter(|line| !of_size(line)).collect::<Vec<_>>().join("\n")
                };
                assert_eq!(told(&far), told(&near), "{verb:?}");
            }
            server.requests.store(0, Ordering::Relaxed);
            folder.run(&["slice", &url, "--start", "7", "--stop", "8", "-o", "-", "--plain"]);
            let requests = server.requests.load(Ordering::Relaxed);
            assert!(requests <= 5, "the index, and the file of one chunk of 30: {requests}");
            for (words, said) in [
                (&["info", &format!("{root}d/none/")][..], "chunks.b2frame"),
                (&["info", &url, "--as", "bcolz"], "no sparse frame"),
                (&["info", &url, "--as", "chunk"], "no directory"),
                (&["info", &url, "--offset", "4"], "has none"),
                (&["append", &url, "raw"], "cannot be changed"),
            ] {
                let (_, text) = folder.fail(words);
                assert!(text.contains(said), "{words:?}: {text}");
            }
        }
        // The name that it has without `-o` is in this directory.
        let (_, url) = Server::start(Fault::None, "deep/down/b.b2nd", &folder.read("a.b2nd"));
        folder.run(&["decompress", &url]);
        folder.run(&["decompress", "a.b2nd"]);
        assert!(folder.read("b.npy") == folder.read("a.npy"));
        let (_, url) = Server::start(Fault::None, "s.b2z", &folder.read("a.b2z"));
        let (status, text) = folder.fail(&["edit", &format!("{url}:/a"), "delete", "0"]);
        assert!(status == 2 && text.contains("zip file"), "{text}");
    }

    /// What a server does wrong is said in its words, and nothing is written.
    #[test]
    fn servers_that_fail_are_told() {
        let folder = Folder::new("remote-faults");
        make(&folder);
        for (fault, said) in [(Fault::IgnoresRanges, "range"), (Fault::CutsShort, ""), (Fault::Fails, "503")]
        {
            let (_, url) = Server::start(fault, "a.b2nd", &folder.read("a.b2nd"));
            let (status, text) = folder.fail(&["decompress", &url, "-o", "x.npy"]);
            println!("{fault:?}: {text}");
            assert!(status == 1 && text.to_lowercase().contains(said), "{fault:?}: {text}");
            assert!(!folder.path("x.npy").exists());
        }
        for (url, said) in
            [("gs://bucket/a.b2nd", "s3, https and http are"), ("http://127.0.0.1:1", "names no object")]
        {
            let (status, text) = folder.fail(&["info", url]);
            assert!(status == 1 && text.contains(said), "{text}");
        }
    }

    /// A server of S3 on loopback: `moto` of PyPI.
    struct S3(Child, String);

    impl Drop for S3 {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    impl S3 {
        /// Starts one, if the Python that the tests of the adapters use has `moto`.
        fn start() -> Option<S3> {
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let python = std::env::var("BLOSC_ADAPTERS_PYTHON").unwrap_or("python3".into());
            let words = ["-m", "moto.server", "-H", "127.0.0.1", "-p", &free.port().to_string()];
            let mut command = Command::new(python);
            command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
            let mut server = S3(command.spawn().ok()?, free.to_string());
            // It takes some seconds until it listens; without `moto` Python ends.
            let begun = std::time::Instant::now();
            while TcpStream::connect(free).is_err() {
                if server.0.try_wait().unwrap().is_some() {
                    return None;
                }
                assert!(begun.elapsed().as_secs() < 60, "moto does not listen at {free} after a minute");
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            Some(server)
        }

        /// Makes a bucket or an object.
        fn put(&self, path: &str, content: &[u8]) {
            let mut stream = TcpStream::connect(&self.1).unwrap();
            let (host, len) = (&self.1, content.len());
            let head = format!("PUT {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len}\r\n");
            stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
            stream.write_all(content).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        }

        /// What the command writes, which must succeed or fail as told.
        fn run(&self, words: &[&str], succeeds: bool) -> Vec<u8> {
            let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
            command.env("AWS_ENDPOINT_URL", format!("http://{}", self.1)).env("AWS_ALLOW_HTTP", "true");
            command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
            let output = command.env("AWS_REGION", "us-east-1").args(words).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.success(), succeeds, "{words:?}: {text}");
            if succeeds { output.stdout } else { output.stderr }
        }
    }

    /// What comes from a bucket is what comes from the file, and what is not there is named.
    #[test]
    fn an_object_of_s3_reads_as_its_file() {
        let Some(server) = S3::start() else {
            return println!("skipped: no `moto` (pip install 'moto[server]') in this Python");
        };
        let folder = Folder::new("remote-s3");
        make(&folder);
        server.put("/days", &[]);
        for kind in KINDS {
            let name = format!("a.{kind}");
            server.put(&format!("/days/deep/{name}"), &folder.read(&name));
            let url = format!("s3://days/deep/{name}");
            let leaf = if kind == "b2z" { ":/a" } else { "" };
            for (verb, leaf, options) in [
                ("info", "", &["--all"][..]),
                ("verify", "", &[]),
                ("slice", leaf, &["--start", "7", "--stop", "11", "--plain", "-o", "-"]),
                ("decompress", leaf, &["-o", "-"]),
            ] {
                let near = format!("{name}{leaf}");
                let far = server.run(&[&[verb, &format!("{url}{leaf}")][..], options].concat(), true);
                let near = folder.run(&[&[verb, &near][..], options].concat());
                let text = |bytes: &[u8], place: &str| String::from_utf8_lossy(bytes).replace(place, "PLACE");
                assert_eq!(text(&far, &url), text(&near, &name), "{url} {verb}");
            }
        }
        let said = server.run(&["info", "s3://days/deep/b.b2nd"], false);
        assert!(String::from_utf8_lossy(&said).contains("not found"), "{}", String::from_utf8_lossy(&said));
    }
}

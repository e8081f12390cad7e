//! Engines that are other programs, in any language.
//!
//! The program reads lines from its standard input and answers each with one line, `ok …` or `no REASON`:
//!
//! ```text
//! hello 1                                    ok NAME VERSION      (ok NAME VERSION own: its chunks are not Blosc's)
//! compress codec=lz4 filter=shuffle level=5 typesize=4 threads=1 blocksize=0
//!                                            ok           (or: no REASON, and the case is left out)
//! decompress threads=1                       ok
//! data N, then N bytes                       ok           what to compress or decompress
//! run COUNT                                  ok NANOSECONDS   of all COUNT runs together
//! fetch                                      ok N, then N bytes: the result of the last run
//! quit                                       (ends)
//! ```
//!
//! It times itself, so pipes and start-up are not in the figure; its results are fetched and checked
//! like those of every engine. Chunks in a format of its own are judged by what it decompresses them to.

use super::spec::{Engine, SelfTimed, Spec};
use crate::measure::candidate::{Check, Work};
use crate::measure::check::expect;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

/// A running engine.
#[derive(Clone)]
pub struct External {
    name: String,
    /// Whether its chunks have a format of its own.
    own: bool,
    pipe: Rc<RefCell<Pipe>>,
}

struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Which case was prepared last.
    current: u64,
    cases: u64,
}

/// More than any result can be; an engine that announces more is wrong.
const MOST: usize = 1 << 31;

impl Pipe {
    fn ask(&mut self, line: &str) -> Result<String, String> {
        let gone = |e: std::io::Error| format!("the engine is gone: {e}");
        self.input.write_all(format!("{line}\n").as_bytes()).map_err(gone)?;
        self.input.flush().map_err(gone)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String, String> {
        let mut answer = String::new();
        let mut limited = (&mut self.output).take(1 << 16);
        limited.read_line(&mut answer).map_err(|e| format!("the engine is gone: {e}"))?;
        let answer = answer.trim();
        match (answer.strip_prefix("ok"), answer.strip_prefix("no ")) {
            (Some(rest), _) => Ok(rest.trim().to_string()),
            (None, Some(why)) => Err(why.to_string()),
            (None, None) if answer.is_empty() => Err("the engine ended".into()),
            (None, None) => Err(format!("the engine answered {answer:?}")),
        }
    }

    fn prepare(&mut self, id: u64, command: &str, data: &[u8]) -> Result<(), String> {
        if self.current == id {
            return Ok(());
        }
        self.ask(command)?;
        self.input.write_all(format!("data {}\n", data.len()).as_bytes()).map_err(|e| e.to_string())?;
        self.input.write_all(data).map_err(|e| e.to_string())?;
        self.input.flush().map_err(|e| e.to_string())?;
        self.answer()?;
        self.current = id;
        Ok(())
    }

    fn run(&mut self, count: u64) -> Result<f64, String> {
        let answer = self.ask(&format!("run {count}"))?;
        let told = answer.parse::<f64>().ok().filter(|ns| ns.is_finite() && *ns >= 0.0);
        told.ok_or_else(|| format!("the engine gave {answer:?} for a time"))
    }

    fn fetch(&mut self, dst: &mut [u8]) -> Result<usize, String> {
        let answer = self.ask("fetch")?;
        let len = answer.parse::<usize>().ok().filter(|n| *n <= MOST);
        let len = len.ok_or_else(|| format!("the engine gave {answer:?} for a size"))?;
        let room = dst.get_mut(..len).ok_or("wrong output: more bytes than there should be")?;
        self.output.read_exact(room).map_err(|e| format!("the engine is gone: {e}"))?;
        Ok(len)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"quit\n").and_then(|()| self.input.flush());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl External {
    /// Starts `command` (words separated by blanks) and greets it.
    ///
    /// # Errors
    /// It cannot be started, or does not speak the protocol.
    pub fn start(command: &str) -> Result<External, String> {
        let fail = |e: &dyn std::fmt::Display| format!("--engine exec:{command}: {e}");
        let mut words = command.split_whitespace();
        let program = words.next().ok_or_else(|| fail(&"no command"))?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| fail(&e))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(fail(&"no pipes"));
        };
        let mut pipe = Pipe { child, input, output: BufReader::new(output), current: 0, cases: 0 };
        let name = pipe.ask("hello 1").map_err(|e| fail(&e))?;
        if name.is_empty() {
            return Err(fail(&"it did not tell its name"));
        }
        let (name, own) = match name.strip_suffix(" own") {
            Some(name) => (name.to_string(), true),
            None => (name, false),
        };
        Ok(External { name, own, pipe: Rc::new(RefCell::new(pipe)) })
    }

    fn case(&self, command: String, data: Rc<[u8]>) -> Result<SelfTimed, String> {
        let id = {
            let mut pipe = self.pipe.borrow_mut();
            pipe.cases += 1;
            let id = pipe.cases;
            pipe.prepare(id, &command, &data)?;
            id
        };
        let (pipe, again) = (Rc::clone(&self.pipe), (command.clone(), Rc::clone(&data)));
        let work: Work<'static> = Box::new(move |_, dst| {
            let mut pipe = pipe.borrow_mut();
            pipe.prepare(id, &again.0, &again.1)?;
            pipe.run(1)?;
            pipe.fetch(dst)
        });
        let pipe = Rc::clone(&self.pipe);
        let timer = Box::new(move |count| {
            let mut pipe = pipe.borrow_mut();
            pipe.prepare(id, &command, &data)?;
            pipe.run(count)
        });
        Ok(SelfTimed { work, timer })
    }
}

impl Engine for External {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn own_chunk(&self, spec: &Spec, data: &[u8]) -> Option<Result<Rc<[u8]>, String>> {
        let write = |mut timed: SelfTimed| {
            let mut chunk = vec![0; data.len() + data.len() / 8 + 4096];
            let len = (timed.work)(&[], &mut chunk)?;
            chunk.truncate(len);
            Ok(chunk.into())
        };
        let timed = self.self_timed("compress", spec, data.into()).filter(|_| self.own)?;
        Some(timed.and_then(write))
    }

    fn judge<'a>(&self, spec: &Spec, source: &'a [u8]) -> Option<Check<'a>> {
        let (engine, spec) = (self.clone(), *spec);
        let back = move |got: &[u8]| {
            let mut back = vec![0; source.len()];
            let timed = engine.self_timed("decompress", &spec, got.into()).ok_or("it has no clock")?;
            let len = (timed?.work)(&[], &mut back)?;
            expect(source)(back.get(..len).unwrap_or_default())
        };
        self.own.then(|| Box::new(back) as Check<'a>)
    }

    fn self_timed(&self, op: &str, spec: &Spec, input: Rc<[u8]>) -> Option<Result<SelfTimed, String>> {
        let Spec { codec, filter, level, typesize, threads, .. } = spec;
        let blocksize = spec.blocksize.unwrap_or(0);
        let command = if op == "compress" {
            format!(
                "compress codec={codec} filter={} level={level} typesize={typesize} threads={threads} \
                 blocksize={blocksize}",
                filter.name()
            )
        } else {
            format!("decompress threads={threads}")
        };
        Some(self.case(command, input))
    }

    fn compressor(&self, _: &Spec, _: usize) -> Result<Work<'static>, String> {
        Err("not in the protocol".into())
    }

    fn decompress_any(&self, _: &Spec) -> Result<Work<'static>, String> {
        Err("not in the protocol".into())
    }

    fn getitem(&self, _: &Spec, _: Rc<[u8]>, _: Range<usize>) -> Result<Work<'static>, String> {
        Err("not in the protocol".into())
    }
}

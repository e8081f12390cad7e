//! Times reads and writes of b2nd arrays, for a script that times another program in turns with it.
//!
//! ```text
//! data RAW SHAPE                        items of 4 bytes for `write`; SHAPE and all lists: 1,2,3
//! open PATH THREADS
//! into START:STOP,…                     one box into memory that was touched before
//! boxes START:STOP,… …                  boxes, each into new memory
//! items I,J,… …                         single items
//! write PATH THREADS CODEC CHUNKS BLOCKS
//! ```
//! Answers each line with "NANOSECONDS SUM": SUM is that of the 32-bit words read, modulo 2^64.
use blosc_core::{Codec, Params};
use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec};
use blosc_frame::{Limits, SuperChunk};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, Write};
use std::ops::Range;
use std::str::FromStr;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn numbers<T: FromStr<Err: Error + 'static>>(word: &str) -> Result<Vec<T>> {
    Ok(word.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?)
}

fn ranges(word: &str) -> Result<Vec<Range<u64>>> {
    let range = |part: &str| -> Result<Range<u64>> {
        let (start, stop) = part.split_once(':').ok_or("a range needs a colon")?;
        Ok(start.parse()?..stop.parse()?)
    };
    word.split(',').map(range).collect()
}

fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4).filter_map(|word| word.first_chunk());
    words.fold(0, |sum, word| sum.wrapping_add(u32::from_le_bytes(*word).into()))
}

#[derive(Default)]
struct Session {
    data: Vec<u8>,
    shape: Vec<u64>,
    array: Option<NdArray<'static>>,
    buffer: Vec<u8>,
}

impl Session {
    fn array(&mut self) -> Result<&mut NdArray<'static>> {
        Ok(self.array.as_mut().ok_or("nothing is open")?)
    }

    fn run(&mut self, words: &[&str]) -> Result<(u128, u64)> {
        match *words {
            ["data", raw, shape] => {
                self.data = std::fs::read(raw)?;
                self.shape = numbers(shape)?;
                self.buffer = vec![1; self.data.len()];
                Ok((0, sum(&self.data)))
            }
            ["open", path, threads] => {
                let start = Instant::now();
                let mut array = NdArray::open(SuperChunk::open_read(File::open(path)?, &Limits::NONE)?)?;
                array.set_threads(threads.parse()?);
                let time = start.elapsed().as_nanos();
                self.array = Some(array);
                Ok((time, 0))
            }
            ["into", place] => {
                let place = ranges(place)?;
                let items: u64 = place.iter().map(|r| r.end - r.start).product();
                let mut buffer = std::mem::take(&mut self.buffer);
                let to = buffer.get_mut(..4 * items as usize).ok_or("no room")?;
                let start = Instant::now();
                self.array()?.get_slice(&place, to)?;
                let result = (start.elapsed().as_nanos(), sum(to));
                self.buffer = buffer;
                Ok(result)
            }
            ["boxes", ref boxes @ ..] => {
                let boxes = boxes.iter().map(|word| ranges(word)).collect::<Result<Vec<_>>>()?;
                let array = self.array()?;
                let mut got = Vec::with_capacity(boxes.len());
                let start = Instant::now();
                for place in &boxes {
                    got.push(array.get(&Selection::ranges(array.shape(), place)?)?);
                }
                let time = start.elapsed().as_nanos();
                Ok((time, got.iter().map(|bytes| sum(bytes)).fold(0, u64::wrapping_add)))
            }
            ["items", ref items @ ..] => {
                let items = items.iter().map(|word| numbers(word)).collect::<Result<Vec<Vec<u64>>>>()?;
                let array = self.array()?;
                let mut got = vec![[0; 4]; items.len()];
                let start = Instant::now();
                for (index, to) in items.iter().zip(&mut got) {
                    array.get_item(index, to)?;
                }
                Ok((start.elapsed().as_nanos(), sum(got.as_flattened())))
            }
            ["write", path, threads, codec, chunks, blocks] => {
                let all = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
                let codec = all.into_iter().find(|c| c.name() == codec).ok_or("no such codec")?;
                let params = Params::new(4).codec(codec).level(5);
                let spec = Spec::new(&self.shape, Dtype::parse("<f4")?)?.params_from(&params);
                let spec = spec.chunks(&numbers(chunks)?)?.blocks(&numbers(blocks)?)?;
                let start = Instant::now();
                let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
                let mut frame = SuperChunk::create(file, &spec.params())?;
                frame.set_threads(threads.parse()?);
                NdArray::from_slice(frame, &spec, &self.data)?.commit()?;
                Ok((start.elapsed().as_nanos(), 0))
            }
            _ => Err("see the head of this file".into()),
        }
    }
}

fn main() -> Result<()> {
    let mut session = Session::default();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (time, sum) = session.run(&line.split(' ').collect::<Vec<_>>())?;
        println!("{time} {sum}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

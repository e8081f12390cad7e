//! The serial line: the board asks, the host answers in pieces.
//!
//! ```text
//! board -> host   '?' position (4 bytes) length (4 bytes)      bytes of the image, please
//!                 ':' text '\n'                                for the log
//! host -> board   ( n, n bytes )*  with 1 <= n <= 255          until all that was asked for is there
//! ```

use crate::board;
use blosc_frame::Error;
use core::fmt::{self, Write};

/// Longest piece.
const PIECE: usize = 255;

/// Asks for `len` bytes of the image from `at` on and hands out each piece as it arrives. After an error the rest of the answer is
/// received and dropped, so that the next question gets its own.
pub fn ask(at: u64, len: usize, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
    if len == 0 {
        return take(&[]);
    }
    board::put(b'?');
    (at as u32).to_le_bytes().into_iter().chain((len as u32).to_le_bytes()).for_each(board::put);
    let (mut piece, mut result, mut left) = ([0; PIECE], Ok(()), len);
    while left > 0 {
        let n = usize::from(board::get());
        let piece = piece.get_mut(..n).unwrap_or(&mut []);
        piece.iter_mut().for_each(|byte| *byte = board::get());
        if result.is_ok() {
            result = take(piece);
        }
        left = left.saturating_sub(n);
    }
    result
}

/// Fills `to` with bytes of the image from `at` on.
pub fn fetch(at: u64, to: &mut [u8]) {
    let mut places = to.iter_mut();
    let len = places.len();
    // Taking bytes cannot fail.
    let _ = ask(at, len, |piece| {
        piece.iter().zip(&mut places).for_each(|(byte, place)| *place = *byte);
        Ok(())
    });
}

/// Prints a line on the host.
pub fn log(text: fmt::Arguments<'_>) {
    board::put(b':');
    let _ = Line.write_fmt(text);
    board::put(b'\n');
}

struct Line;

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(board::put);
        Ok(())
    }
}

macro_rules! say {
    ($($part:tt)*) => { $crate::line::log(format_args!($($part)*)) };
}
pub(crate) use say;

//! Boxes: parts of arrays that are laid out in buffers row by row, in chunks block by block.

use super::Meta;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, values};
use core::ffi::{c_int, c_void};

/// Copies a box of `len` items of `size` bytes between two row-major arrays: at `from_at` of one of shape `from_shape`, to
/// `to_at` of one of shape `to_shape`.
pub fn copy_box(
    size: usize,
    len: &[i64],
    (from, from_shape, from_at): (&[u8], &[i64], &[i64]),
    (to, to_shape, to_at): (&mut [u8], &[i64], &[i64]),
) -> Result<()> {
    if len.iter().any(|&n| n <= 0) {
        return Ok(());
    }
    let Some(row) = len.last() else {
        let place = to.get_mut(..size).ok_or(WRITE_BUFFER)?;
        place.copy_from_slice(from.get(..size).ok_or(READ_BUFFER)?);
        return Ok(());
    };
    let last = len.len() - 1;
    let mut at = vec![0i64; last];
    loop {
        let place = |shape: &[i64], start: &[i64]| {
            let offset = (0..=last).try_fold(0i64, |sum, k| {
                let x = start[k].checked_add(at.get(k).copied().unwrap_or(0))?;
                sum.checked_mul(shape[k])?.checked_add(x)
            })?;
            usize::try_from(offset).ok()?.checked_mul(size)
        };
        let bytes = usize::try_from(*row).ok().and_then(|n| n.checked_mul(size)).ok_or(INVALID_PARAM)?;
        let a = place(from_shape, from_at).ok_or(INVALID_PARAM)?;
        let b = place(to_shape, to_at).ok_or(INVALID_PARAM)?;
        let source = from.get(a..).and_then(|rest| rest.get(..bytes)).ok_or(READ_BUFFER)?;
        to.get_mut(b..).and_then(|rest| rest.get_mut(..bytes)).ok_or(WRITE_BUFFER)?.copy_from_slice(source);
        if !next(&mut at, len) {
            return Ok(());
        }
    }
}

/// The next position within `len`, in row-major order; false after the last.
pub fn next(at: &mut [i64], len: &[i64]) -> bool {
    for k in (0..at.len()).rev() {
        at[k] += 1;
        if at[k] < len[k] {
            return true;
        }
        at[k] = 0;
    }
    false
}

/// All positions from `low` to before `high`, in row-major order. Made one by one: there may be more than memory holds.
pub fn positions(low: &[i64], high: &[i64]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let (low, len) = (low.to_vec(), lengths(low, high).unwrap_or_default());
    let mut at = (len.len() == low.len() && len.iter().all(|&n| n > 0)).then(|| vec![0; len.len()]);
    core::iter::from_fn(move || {
        let now = at.as_mut()?;
        let position = now.iter().zip(&low).map(|(a, b)| a + b).collect();
        if !next(now, &len) {
            at = None;
        }
        Some(position)
    })
}

/// How far it is from each number of `low` to that of `high`.
pub fn lengths(low: &[i64], high: &[i64]) -> Result<Vec<i64>> {
    low.iter().zip(high).map(|(a, b)| b.checked_sub(*a).ok_or(INVALID_PARAM)).collect()
}

impl Meta {
    fn axes(&self) -> core::ops::Range<usize> {
        0..self.shape.len()
    }

    /// Chunks along each axis.
    pub fn grid(&self) -> Vec<i64> {
        self.axes().map(|k| div_up(self.shape[k], self.chunkshape[k])).collect()
    }

    /// Blocks along each axis of a chunk.
    pub fn blocks(&self) -> Vec<i64> {
        self.axes().map(|k| div_up(self.chunkshape[k].into(), self.blockshape[k])).collect()
    }

    /// Number of the chunk at `position` of the grid.
    pub fn number(&self, position: &[i64]) -> u64 {
        let grid = self.grid();
        let number = position.iter().zip(&grid).fold(0i64, |n, (p, g)| n * g + p);
        u64::try_from(number).unwrap_or(u64::MAX)
    }

    /// Bytes of a block and of a chunk, of items of `size` bytes. The array with the padding of its chunks must have a
    /// number of items that the interface can tell.
    pub fn bytes(&self, size: usize) -> Result<(usize, usize)> {
        let padded = self.axes().try_fold(1i64, |n, k| {
            let chunk = i64::from(self.chunkshape[k]);
            n.checked_mul(self.grid()[k].checked_mul(chunk)?)
        });
        padded.ok_or(INVALID_PARAM)?;
        let block = self
            .blockshape
            .iter()
            .try_fold(size, |n, &b| n.checked_mul(usize::try_from(b).ok()?))
            .ok_or(INVALID_PARAM)?;
        let chunk = self
            .blocks()
            .iter()
            .try_fold(block, |n, &b| n.checked_mul(usize::try_from(b).ok()?))
            .ok_or(INVALID_PARAM)?;
        if chunk > i32::MAX as usize - 32 { Err(MAX_BUFSIZE_EXCEEDED) } else { Ok((block, chunk)) }
    }

    /// Positions of the chunks that items `start` to `stop` lie in.
    pub fn chunks(&self, start: &[i64], stop: &[i64]) -> Result<impl Iterator<Item = Vec<i64>> + use<>> {
        for k in self.axes() {
            if start[k] < 0 || start[k] > stop[k] || stop[k] > self.shape[k] {
                return Err(INVALID_PARAM);
            }
        }
        // An axis without items has chunks of none.
        let low: Vec<i64> =
            self.axes().map(|k| start[k].checked_div(self.chunkshape[k].into()).unwrap_or(0)).collect();
        let empty = self.axes().any(|k| start[k] == stop[k]);
        if empty {
            return Ok(positions(&[0], &[0]));
        }
        let high: Vec<i64> = self.axes().map(|k| div_up(stop[k], self.chunkshape[k])).collect();
        Ok(positions(&low, &high))
    }

    /// The part of a slice that lies in block `block` of the chunk at `chunk`: its first item and its sizes.
    pub fn part(
        &self,
        chunk: &[i64],
        block: &[i64],
        start: &[i64],
        stop: &[i64],
    ) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
        let mut parts = (Vec::new(), Vec::new(), Vec::new());
        for k in self.axes() {
            let (c, b) = (i64::from(self.chunkshape[k]), i64::from(self.blockshape[k]));
            let origin = chunk[k] * c + block[k] * b;
            let end = (origin + b).min((chunk[k] + 1) * c).min(stop[k]);
            let first = origin.max(start[k]);
            parts.0.push(first);
            parts.1.push(first - origin);
            parts.2.push(end - first);
        }
        parts
    }
}

pub fn div_up(n: i64, unit: i32) -> i64 {
    if unit == 0 { 0 } else { n / i64::from(unit) + i64::from(n % i64::from(unit) != 0) }
}

/// Numbers of the chunks that items `start` to `stop` lie in.
pub fn chunks_of(meta: &Meta, start: &[i64], stop: &[i64]) -> Result<Vec<i64>> {
    let list = meta.chunks(start, stop)?;
    Ok(list.map(|position| i64::try_from(meta.number(&position)).unwrap_or(-1)).collect())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    int(|| {
        // SAFETY: `ndim` numbers at each; buffers as large as their shapes say, which do not overlap.
        unsafe {
            let n = i64::from(ndim);
            let (from_shape, from_at) = (values(src_pad_shape, n)?, values(src_start, n)?);
            let (to_shape, to_at) = (values(dst_pad_shape, n)?, values(dst_start, n)?);
            let stop = values(src_stop, n)?;
            let total = |shape: &[i64]| {
                let product = |p: i64, &k: &i64| if k < 0 { None } else { p.checked_mul(k) };
                shape.iter().try_fold(i64::from(itemsize), product).ok_or(INVALID_PARAM)
            };
            let len = lengths(from_at, stop)?;
            let from = bytes(src, total(from_shape)?)?;
            let to = bytes_mut(dst, total(to_shape)?)?;
            let item = usize::try_from(itemsize).map_err(|_| INVALID_PARAM)?;
            copy_box(item, &len, (from, from_shape, from_at), (to, to_shape, to_at))?;
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer(
    ndim: i8,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    // SAFETY: as this function's own arguments.
    unsafe {
        b2nd_copy_buffer2(
            ndim,
            itemsize.into(),
            src,
            src_pad_shape,
            src_start,
            src_stop,
            dst,
            dst_pad_shape,
            dst_start,
        )
    }
}

//! Memory of Python objects as slices, by the buffer protocol.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The memory of a Python object. It stays where it is and keeps its size as long as this exists.
pub struct Memory(PyUntypedBuffer);

impl Memory {
    /// The memory of `object`, in one piece in C or Fortran order.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Memory> {
        let buffer = PyUntypedBuffer::get(object)?;
        if buffer.is_c_contiguous() || buffer.is_fortran_contiguous() {
            return Ok(Memory(buffer));
        }
        Err(PyValueError::new_err("an array with contiguous memory is required"))
    }

    /// Bytes of an item.
    pub fn item_size(&self) -> usize {
        self.0.item_size()
    }

    /// The bytes. As for any extension that releases the lock, another thread must not write to them meanwhile.
    pub fn bytes(&self) -> &[u8] {
        let len = self.0.len_bytes();
        if len == 0 {
            return &[];
        }
        // SAFETY: `of` accepts contiguous buffers only, so `len_bytes` bytes are readable from `buf_ptr` on, and the
        // exporter may neither free nor resize them before `self.0` is released. That no other thread writes to them is
        // the contract of every extension that reads a buffer without the interpreter's lock; README.md names it.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), len) }
    }

    /// The bytes, to be written.
    ///
    /// # Errors
    /// `ValueError` for memory that is read-only.
    pub fn bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        if self.0.readonly() {
            return Err(PyValueError::new_err("the destination is read-only"));
        }
        let len = self.0.len_bytes();
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as in `bytes`, and the exporter says that the memory may be written. `&mut self` keeps other slices
        // of this `Memory` away; that no other object or thread uses the same bytes meanwhile is the caller's contract.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast(), len) })
    }
}

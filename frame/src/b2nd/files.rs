//! Whole arrays in one call, as `ndarray-npy` has them for NumPy's own files.

use super::array::NdArray;
use super::select::Selection;
use super::spec::Spec;
use super::typed::Element;
use crate::error::{Error, FileError};
use crate::io::PathFile;
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use alloc::vec::Vec;
use ndarray::{ArrayBase, ArrayD, Data, Dimension};
use std::path::Path;

/// Writes `values` to a new b2nd file, compressed with the defaults of the C library. A file that could not be completed is removed.
///
/// ```
/// use blosc_frame::b2nd::{read_b2nd, write_b2nd};
/// let path = std::env::temp_dir().join(format!("blosc-frame-{}.b2nd", std::process::id()));
/// let field = ndarray::Array2::from_shape_fn((20, 30), |(i, j)| (i * 30 + j) as f32);
/// write_b2nd(&path, &field)?;
/// assert_eq!(read_b2nd::<f32>(&path)?, field.into_dyn());
/// let error = read_b2nd::<f64>(&path).unwrap_err();
/// let expected = format!("{}: the items are of dtype <f4 and cannot be read or written as f64", path.display());
/// assert_eq!(error.to_string(), expected);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A file that exists, or cannot be written; an array of more than 16 axes.
pub fn write_b2nd<S, D>(path: impl AsRef<Path>, values: &ArrayBase<S, D>) -> Result<(), FileError>
where
    S: Data<Elem: Element>,
    D: Dimension,
{
    let path = path.as_ref();
    write(path, values).map_err(FileError::at(path))
}

fn write<S, D>(path: &Path, values: &ArrayBase<S, D>) -> Result<(), Error>
where
    S: Data<Elem: Element>,
    D: Dimension,
{
    let shape: Vec<u64> = values.shape().iter().map(|&side| side as u64).collect();
    let spec = Spec::new(&shape, S::Elem::dtype())?;
    let file = PathFile::create_new(path)?;
    let fill = || {
        let mut array = NdArray::zeros(SuperChunk::create(file, &spec.params())?, &spec)?;
        array.set_ndarray(&Selection::all(&shape), &values.view().into_dyn())?;
        array.commit()
    };
    fill().inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

/// Reads a b2nd file whole, under the default limits.
///
/// # Errors
/// A file that cannot be read or is damaged, items that are not of type `T`; the error names the path.
pub fn read_b2nd<T: Element>(path: impl AsRef<Path>) -> Result<ArrayD<T>, FileError> {
    let path = path.as_ref();
    read(path).map_err(FileError::at(path))
}

fn read<T: Element>(path: &Path) -> Result<ArrayD<T>, Error> {
    NdArray::open(SuperChunk::open_read(PathFile::open(path)?, &Limits::DEFAULT)?)?.to_ndarray()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_every_number_of_axes_come_back() {
        let folder = std::env::temp_dir();
        for axes in 0..5 {
            let path = folder.join(alloc::format!("blosc-whole-{axes}-{}.b2nd", std::process::id()));
            let _ = std::fs::remove_file(&path);
            let shape = &[3, 0, 7, 2][..axes];
            let array = ArrayD::from_shape_fn(shape, |index| index.slice().iter().sum::<usize>() as u16);
            write_b2nd(&path, &array).unwrap();
            assert!(write_b2nd(&path, &array).is_err(), "what is there is not overwritten");
            assert_eq!(read_b2nd::<u16>(&path).unwrap(), array);
            // Turned round: items are not in the order of memory.
            std::fs::remove_file(&path).unwrap();
            write_b2nd(&path, &array.t()).unwrap();
            assert_eq!(read_b2nd::<u16>(&path).unwrap(), array.t());
            std::fs::remove_file(&path).unwrap();
        }
    }
}

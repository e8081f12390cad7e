//! Calls of the emulator that both architectures have: a file, and the end.

use crate::board;

fn call(operation: usize, arguments: &[usize; 3]) -> usize {
    board::call(operation, arguments.as_ptr() as usize)
}

/// A file of the host.
pub struct File(usize);

impl File {
    /// Opens a file for reading and writing. `name` ends with a zero byte.
    pub fn open(name: &str) -> File {
        const READ_WRITE: usize = 3; // "r+b"
        let file = call(0x01, &[name.as_ptr() as usize, READ_WRITE, name.len() - 1]);
        assert!(file != usize::MAX, "the flash's file cannot be opened");
        File(file)
    }

    pub fn seek(&mut self, at: usize) {
        assert!(call(0x0a, &[self.0, at, 0]) == 0, "the flash's file cannot be positioned");
    }

    pub fn read(&mut self, to: &mut [u8]) {
        assert!(
            call(0x06, &[self.0, to.as_mut_ptr() as usize, to.len()]) == 0,
            "the flash's file is too short"
        );
    }

    pub fn write(&mut self, from: &[u8]) {
        assert!(
            call(0x05, &[self.0, from.as_ptr() as usize, from.len()]) == 0,
            "the flash's file was not written"
        );
    }
}

/// Ends the emulator: status 0 if all is well, 1 if not.
pub fn exit(well: bool) -> ! {
    const APPLICATION_EXIT: usize = 0x20026;
    const INTERNAL_ERROR: usize = 0x20024;
    loop {
        board::call(0x18, if well { APPLICATION_EXIT } else { INTERNAL_ERROR });
    }
}

//! Lines and columns of byte offsets.

/// Where each line of a text begins.
pub(super) struct Places {
    starts: Vec<usize>,
}

impl Places {
    pub fn of(bytes: &[u8]) -> Places {
        let after = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
        Places { starts: std::iter::once(0).chain(after).collect() }
    }

    /// Line and column of a byte, both from 1.
    pub fn at(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or(0);
        (line.max(1), offset - start + 1)
    }

    /// The first byte of a line, counted from 0.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(0)
    }
}

//! The memory that the allocator keeps for later, and that of the program's own code.

/// Returns memory that is free to the system. glibc keeps what was freed in the middle of its heaps, which after a lot of
/// work is most of them; elsewhere nothing has to be done.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::trim();
}

/// Gives back the memory that the program's code takes, for a program that waits: most of it has run once, at the start.
/// Code that runs again is mapped again, from the system's cache of the file. Nothing is done elsewhere than on Linux.
///
/// # Errors
/// Returns the error of the system; then the memory stays as it is.
pub fn release_code() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    code::release()?;
    Ok(())
}

#[cfg(target_os = "linux")]
mod code {
    #![expect(unsafe_code, reason = "no crate that is used here has the function")]

    use std::ffi::{c_int, c_void};
    use std::io;
    use std::ops::Range;

    unsafe extern "C" {
        /// `madvise(2)`.
        fn madvise(addr: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    /// The pages are not needed now.
    const DONT_NEED: c_int = 4;

    pub(super) fn release() -> io::Result<()> {
        let program = std::fs::read_link("/proc/self/exe")?;
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let program = program.to_str().unwrap_or_default();
        for range in maps.lines().filter_map(|line| code_of(program, line)) {
            // SAFETY: the range is a mapping of the program's file that can be run and not written. Nothing has changed
            // its pages, and whoever touches one again gets it from the file.
            if unsafe { madvise(range.start as *mut c_void, range.len(), DONT_NEED) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Returns the addresses of a mapping of the program's code, from its line in `/proc/self/maps`.
    pub(super) fn code_of(program: &str, line: &str) -> Option<Range<usize>> {
        let mut fields = line.splitn(6, ' ');
        let (addresses, rights) = (fields.next()?, fields.next()?);
        let path = fields.nth(3)?.trim_start();
        if rights != "r-xp" || path != program {
            return None;
        }
        let (start, end) = addresses.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some(number(start)?..number(end)?)
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    #![expect(unsafe_code, reason = "no crate that is used here has the function")]

    use std::ffi::c_int;

    unsafe extern "C" {
        /// `malloc_trim(3)`: keeps `pad` bytes at the end of the main heap.
        fn malloc_trim(pad: usize) -> c_int;
    }

    pub(super) fn trim() {
        // SAFETY: glibc has had the function since 2.0 with these types; it takes the locks of the heaps itself and
        // gives back only pages that no allocation is in.
        unsafe { malloc_trim(0) };
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns the resident memory of this process, in KiB.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }

    #[test]
    fn only_mappings_of_the_programs_code_are_found() {
        let code = |line| code::code_of("/opt/cairn (2)", line);
        let lines = [
            "55d0a000-55d0c000 r--p 00000000 08:01 42                         /opt/cairn (2)",
            "55d0c000-55d10000 r-xp 00002000 08:01 42                         /opt/cairn (2)",
            "55d10000-55d12000 rw-p 00006000 08:01 42                         /opt/cairn (2)",
            "55d10000-55d12000 rwxp 00006000 08:01 42                         /opt/cairn (2)",
            "7f10c000-7f110000 r-xp 00002000 08:01 43                         /lib/libc.so.6",
            "7ffd1000-7ffd3000 r-xp 00000000 00:00 0                          [vdso]",
            "7ffd1000-7ffd3000 r-xp 00000000 00:00 0",
        ];
        let found: Vec<_> = lines.into_iter().filter_map(code).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0], 0x55d0_c000..0x55d1_0000);
    }

    #[test]
    fn code_that_was_given_back_runs_again() {
        // Sorting is code of the program that the next lines need again.
        let sort = || {
            let mut numbers: Vec<u32> = (0..1000).rev().collect();
            numbers.sort_unstable();
            numbers
        };
        let sorted = sort();
        release_code().unwrap();
        assert_eq!(sort(), sorted);
    }

    #[test]
    fn memory_between_what_is_still_in_use_goes_back() {
        // Each is too small for a mapping of its own, and every 64th stays.
        let mut blocks: Vec<Option<Vec<u8>>> = Vec::new();
        blocks.extend((0..16_384).map(|_| Some(vec![1; 4096])));
        for (at, block) in blocks.iter_mut().enumerate() {
            if at % 64 != 0 {
                *block = None;
            }
        }
        let before = resident();
        release_free_memory();
        let after = resident();
        assert!(
            after + 32_000 < before,
            "{before} KiB before, {after} after"
        );
        assert_eq!(blocks.iter().flatten().count(), 256);
    }
}

//! The file system of a path on macOS: `stat` and `statfs`.

use super::{Filesystem, kind_of_type};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

pub(super) fn of(path: &Path) -> io::Result<Filesystem> {
    let device = std::fs::metadata(path)?.dev();
    let found = rustix::fs::statfs(path)?;
    // A text that ends with a NUL; the bytes are signed in C.
    let type_name: String = found
        .f_fstypename
        .iter()
        .map(|c| c.to_ne_bytes()[0])
        .take_while(|byte| *byte != 0)
        .map(char::from)
        .collect();
    Ok(Filesystem {
        // `f_fsid` comes from the device number, which changes.
        identity: None,
        device,
        mount: None,
        kind: kind_of_type(&type_name),
        type_name,
    })
}

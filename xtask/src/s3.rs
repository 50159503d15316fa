//! Sealed chunks in an S3-compatible store: the end-to-end test in `tests/s3`, against an
//! independent imitation of S3.

use crate::python::run_end_to_end;
use anyhow::Result;

pub(crate) fn run() -> Result<()> {
    run_end_to_end("s3", &["cairn", "cairn-server"])
}

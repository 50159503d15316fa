//! Mail: the end-to-end test in `tests/mail`, against a mail server that others wrote.

use crate::python::run_end_to_end;
use anyhow::Result;

pub(crate) fn run() -> Result<()> {
    run_end_to_end("mail", &["cairn-server"])
}

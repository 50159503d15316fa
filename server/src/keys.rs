//! The commands about the server's own keys.

use crate::cli::{DataOptions, Keys};
use crate::output::{json, print_line};
use anyhow::{Result, bail};
use cairn_server::{Clock, Rotated, Source, rotate_records_key};
use serde_json::json as value;
use std::sync::Arc;

/// Runs a command about keys.
pub(crate) fn keys(command: &Keys) -> Result<()> {
    match command {
        Keys::Rotate(options) => rotate(options),
    }
}

fn rotate(options: &DataOptions) -> Result<()> {
    let settings = options.options()?;
    options.check_data(&settings)?;
    if settings.database.is_some() {
        bail!(
            "`keys rotate` works on the database in a data directory; with PostgreSQL, where several servers share \
             records.key, the file stays as it is. Nothing was changed"
        );
    }
    let data = settings.data;
    let source = Arc::new(Source::new(Clock::System, None));
    let rotated = rotate_records_key(&data, &source)?;
    if options.json {
        return json(&value!({
            "resealed": rotated.resealed,
            "unopenable": rotated.unopenable,
            "completed_earlier": rotated.completed_earlier,
        }));
    }
    print_line(&summary(rotated))?;
    print_line(
        "Replace the copy of records.key that you keep; backups from before need the one that is in them.",
    )
}

fn summary(rotated: Rotated) -> String {
    let Rotated {
        resealed,
        unopenable,
        completed_earlier,
    } = rotated;
    let begun = if completed_earlier {
        "An earlier rotation had not ended and is complete now"
    } else {
        "records.key is new"
    };
    let lost = if unopenable == 0 {
        String::new()
    } else {
        format!(" {unopenable} were sealed with a key that was lost before, and stay as they are.")
    };
    format!("{begun}: {resealed} records were sealed anew.{lost}")
}

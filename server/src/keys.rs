//! The commands about the server's own keys.

use crate::cli::{DataOptions, Keys};
use crate::output::{json, print_line};
use anyhow::{Result, bail};
use cairn_server::{Clock, Options, Rotated, Source, rotate_records_key};
use serde_json::json as value;
use std::sync::Arc;

/// Runs a command about keys.
pub(crate) fn keys(command: &Keys) -> Result<()> {
    match command {
        Keys::Rotate {
            signing: false,
            options,
        } => rotate(options),
        Keys::Rotate {
            signing: true,
            options,
        } => rotate_signing(options),
    }
}

fn rotate_signing(options: &DataOptions) -> Result<()> {
    // As a server that serves would: this needs the data directory for itself.
    let settings = Options {
        serving: true,
        ..options.options()?
    };
    let is_shared = settings.database.is_some();
    let deleted = options.open(settings)?.delete_signing_keys()?;
    if options.json {
        return json(&value!({ "deleted": deleted }));
    }
    print_line(
        "The keys that sign tokens are deleted; the next start makes new ones. Programs that are logged in get new \
         tokens by themselves.",
    )?;
    if is_shared {
        print_line("Restart every server of this database: until then it uses the former keys.")?;
    }
    Ok(())
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

//! The commands about backups.

use crate::cli::DataOptions;
use crate::output::{json, print_line};
use anyhow::{Result, bail};
use cairn_server::{Backup, Options, restore};
use std::path::Path;

fn summary_line(backup: &Backup) -> String {
    if backup.has_objects {
        format!("{} objects, {} bytes", backup.objects, backup.bytes)
    } else {
        "the database alone: the objects lie in a store of their own".to_owned()
    }
}

/// Refuses a command that copies a data directory where the database lies elsewhere.
fn refuse_postgres(settings: &Options, command: &str) -> Result<()> {
    if settings.database.is_some() {
        bail!(
            "`{command}` is for a data directory. With PostgreSQL, copy the database by pg_dump, then the objects with \
             the tools of their store, and records.key as a file (docs/server.md)"
        );
    }
    Ok(())
}

/// Copies the data of a server that may be running.
pub(crate) fn back_up(options: &DataOptions, to: &Path) -> Result<()> {
    let settings = options.options()?;
    refuse_postgres(&settings, "backup")?;
    let backup = options.open(settings)?.backup(to)?;
    if options.json {
        return json(&backup);
    }
    print_line(&format!("{}: {}", to.display(), summary_line(&backup)))
}

/// Makes a data directory of a backup.
pub(crate) fn restore_to(options: &DataOptions, from: &Path) -> Result<()> {
    refuse_postgres(&options.options()?, "restore")?;
    let backup = restore(from, &options.data)?;
    if options.json {
        return json(&backup);
    }
    print_line(&format!(
        "{} is as it was at {} ({}); start the server with --data {}",
        options.data.display(),
        backup.created_at,
        summary_line(&backup),
        options.data.display()
    ))
}

/// Checks a data directory; a problem is a failure.
pub(crate) fn check(options: &DataOptions, read_data: bool) -> Result<()> {
    let server = options.existing_server()?;
    let checked = crate::runtime()?.block_on(server.check(read_data))?;
    if options.json {
        json(&checked)?;
    } else {
        checked
            .problems
            .iter()
            .try_for_each(|problem| print_line(problem))?;
        let how = if read_data { "read" } else { "found" };
        print_line(&format!(
            "{how} {} objects of {} bytes; {} that nothing refers to",
            checked.objects, checked.bytes, checked.unreferenced
        ))?;
    }
    if !checked.problems.is_empty() {
        bail!(
            "{} problems; restore what is missing from a backup",
            checked.problems.len()
        );
    }
    Ok(())
}

//! `cairn mcp skills`: instructions for tasks of several calls, for assistants' programs that read them from a folder.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_mcp::SKILLS;
use serde_json::json;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Write the skills (tidy up, share safely, what changed, find and bring back) to a folder
///
/// The folder is the one that the assistant's program reads skills from, such as ~/.claude/skills.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Target folder; it is made if it is missing
    directory: PathBuf,
    /// Replace skills of these names that differ
    #[arg(long)]
    force: bool,
}

pub(super) fn run(app: &App, args: &Args) -> CommandResult {
    let target = |name: &str| args.directory.join(name).join("SKILL.md");
    // All are looked at before the first is written.
    for (name, text) in SKILLS {
        let file = target(name);
        let differs = match fs::read(&file) {
            Ok(there) => there != text.as_bytes(),
            Err(error) => error.kind() != ErrorKind::NotFound,
        };
        if differs && !args.force {
            return Err(Failure::new(
                Exit::Decision,
                format!(
                    "{} is there and differs: add --force to replace it",
                    file.display()
                ),
            ));
        }
    }
    let mut written = Vec::new();
    for (name, text) in SKILLS {
        let file = target(name);
        fs::create_dir_all(args.directory.join(name))
            .and_then(|()| fs::write(&file, text))
            .context(format_args!("write {}", file.display()))?;
        app.out.line(format_args!("Wrote {}.", file.display()));
        written.push(file);
    }
    app.out.json(&json!({ "written": written }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Out;
    use cairn_platform::{Home, Zone};

    #[test]
    fn skills_are_written_and_what_somebody_changed_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let app = App {
            home: Home::at(&dir.path().join("home")),
            out: Out::new(true),
            no_start: true,
            zone: Zone::system(),
        };
        let mut args = Args {
            directory: dir.path().join("skills"),
            force: false,
        };
        run(&app, &args).unwrap();
        run(&app, &args).unwrap();
        let changed = args.directory.join("tidy-up/SKILL.md");
        fs::write(&changed, "mine").unwrap();
        assert_eq!(run(&app, &args).unwrap_err().exit, Exit::Decision);
        assert_eq!(fs::read_to_string(&changed).unwrap(), "mine");
        args.force = true;
        run(&app, &args).unwrap();
        assert!(
            fs::read_to_string(&changed)
                .unwrap()
                .starts_with("---\nname: tidy-up\n")
        );
    }
}

//! `cairn mcp bundle`: a file with which assistants' programs install this server by a click (MCP Bundle, `.mcpb`).
//!
//! It has no copy of the program but starts the installed one, which is always of the same version as the sync daemon
//! and the home that it uses; no account or secret is in it.

use super::install::server_command;
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_platform::{FileMode, process, write_atomic};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Cursor, Write as _};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

/// Version of the form of the manifest; the one after it has nothing that is needed here.
const MANIFEST_VERSION: &str = "0.3";
const ICON: &[u8] = include_bytes!("../../../../icons/app-256.png");

/// Make a bundle (.mcpb) with which assistants' programs install this server
///
/// It starts the installed program, with the account that this machine is logged in to. The program that
/// installs it asks for the settings.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File to write, such as cairn.mcpb
    file: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
}

pub(super) fn run(app: &App, args: &Args) -> CommandResult {
    let shown = args.file.display();
    let (program, arguments) = server_command(app)?;
    let bundle = archive(&program, &arguments)
        .map_err(|error| Failure::failed(format!("can't make the bundle: {error}")))?;
    if args.force {
        write_atomic(&args.file, &bundle, FileMode::Inherit)?;
    } else {
        write_new(&args.file, &bundle)?;
    }
    app.out.line(format_args!(
        "Wrote {shown}. Open it with the assistant's program, such as Claude Desktop."
    ));
    app.out.json(&json!({ "written": args.file }));
    Ok(())
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, bytes: &[u8]) -> CommandResult {
    let shown = path.display();
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::new(
            Exit::Decision,
            format!("{shown} is there: add --force to replace it"),
        )),
        written => written.context(format_args!("write {shown}")),
    }
}

/// Returns the bytes of the bundle: the same ones each time.
fn archive(program: &Path, arguments: &[String]) -> zip::result::ZipResult<Vec<u8>> {
    let launcher = launcher(program, arguments);
    let manifest = format!("{:#}\n", manifest(program, arguments, launcher.0));
    let file = SimpleFileOptions::default().last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content, options) in [
        (
            "manifest.json",
            manifest.as_bytes(),
            file.unix_permissions(0o644),
        ),
        ("icon.png", ICON, file.unix_permissions(0o644)),
        (
            launcher.0,
            launcher.1.as_bytes(),
            file.unix_permissions(0o755),
        ),
    ] {
        archive.start_file(name, options)?;
        archive.write_all(content)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns the entry point that every bundle has to have, as its name and content: it starts the program, too.
fn launcher(program: &Path, arguments: &[String]) -> (&'static str, String) {
    let words = [program.display().to_string()];
    let words = words.iter().chain(arguments);
    if process::SYSTEM == "windows" {
        let quoted: Vec<_> = words.map(|word| format!("\"{word}\"")).collect();
        return ("server/cairn.cmd", format!("@{} %*\r\n", quoted.join(" ")));
    }
    let quoted: Vec<_> = words
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    let text = format!("#!/bin/sh\nexec {} \"$@\"\n", quoted.join(" "));
    ("server/cairn", text)
}

fn manifest(program: &Path, arguments: &[String], entry_point: &str) -> Value {
    let platform = match process::SYSTEM {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    json!({
        "manifest_version": MANIFEST_VERSION,
        "name": "cairn",
        "display_name": "Cairn",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Encrypted file storage and folder sync for AI assistants.",
        "author": { "name": "The Cairn authors" },
        "license": env!("CARGO_PKG_LICENSE"),
        "icon": "icon.png",
        "server": {
            "type": "binary",
            "entry_point": entry_point,
            "mcp_config": {
                "command": program,
                "args": arguments,
                "env": {
                    "CAIRN_MCP_READ_ONLY": "${user_config.read_only}",
                    "CAIRN_MCP_LOCKDOWN": "${user_config.lockdown}",
                    "CAIRN_MCP_CONFIRM": "${user_config.confirm}",
                    "CAIRN_MCP_TOOLSETS": "${user_config.toolsets}",
                },
            },
        },
        "tools_generated": true,
        "prompts_generated": true,
        "user_config": settings(),
        "compatibility": { "platforms": [platform] },
    })
}

/// Returns what the assistant's program asks when it installs the bundle.
fn settings() -> Value {
    let field = |kind: &str, title: &str, description: &str, default: Value| {
        json!({
            "type": kind,
            "title": title,
            "description": description,
            "default": default,
            "required": false,
        })
    };
    json!({
        "read_only": field(
            "boolean",
            "Only look",
            "Offer only tools that change nothing",
            json!(false),
        ),
        "lockdown": field(
            "boolean",
            "Withhold texts of others",
            "Give the assistant no contents, names, comments and descriptions",
            json!(false),
        ),
        "confirm": field(
            "string",
            "Ask me",
            "always: before every change; risky: before what can't be undone, costs money or shares files; never",
            json!("risky"),
        ),
        "toolsets": field(
            "string",
            "Groups of tools",
            "Only these, such as files,content,sharing; all if empty",
            json!(""),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_entry_point_starts_the_program_whatever_its_path_is() {
        let arguments = ["--home".to_owned(), "it's $HOME".to_owned()];
        let (_, text) = launcher(Path::new("/usr/bin/printf"), &["%s\\n".to_owned()]);
        assert!(
            text.starts_with("#!/bin/sh\nexec '/usr/bin/printf' "),
            "{text}"
        );
        let (_, text) = launcher(Path::new("/bin/echo"), &arguments);
        let run = std::process::Command::new("/bin/sh")
            .args(["-c", &text])
            .output();
        let shown = String::from_utf8(run.unwrap().stdout).unwrap();
        assert_eq!(shown, "--home it's $HOME\n");
    }

    #[test]
    fn the_same_program_makes_the_same_bundle() {
        let make = || archive(Path::new("/usr/bin/cairn"), &["mcp".to_owned()]).unwrap();
        assert_eq!(make(), make());
    }
}

//! The command line of the tray program.

use crate::file_request::{FileDialog, FileRequest};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The command line of the tray program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Another home than the platform's own directories.
    pub home: Option<PathBuf>,
    /// The path of the `cairn` program, if it isn't beside this one.
    pub cairn: Option<PathBuf>,
    /// Opens the window at once.
    pub show: bool,
    /// Opens the window with a dialog about a file.
    pub file: Option<FileRequest>,
    /// Started by the desktop: nothing opens by itself.
    pub autostarted: bool,
}

/// The reason that the program doesn't start: an invalid command line, or a request for help.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stop {
    #[error(
        "Usage: cairn-tray [--home DIR] [--cairn PROGRAM] [--show | --why PATH | --versions PATH | --share PATH]\n\n\
         The tray icon and window of Cairn. --show opens the window at once; --why, --versions and --share open it \
         with the sync state, the versions or a new share link of a file in a synced folder."
    )]
    Help,
    #[error("cairn-tray {}", env!("CARGO_PKG_VERSION"))]
    Version,
    #[error("`{0}` needs a value: see `cairn-tray --help`")]
    Value(String),
    #[error("unknown argument `{0}`: see `cairn-tray --help`")]
    Unknown(String),
}

impl Options {
    /// Reads the arguments that follow the program's name. Files are relative to `dir`.
    ///
    /// # Errors
    /// [`Stop`], with the text to show instead.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>, dir: &Path) -> Result<Self, Stop> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let mut value = || {
                arguments
                    .next()
                    .map(PathBuf::from)
                    .ok_or_else(|| Stop::Value(text.clone()))
            };
            match text.as_str() {
                "--home" => options.home = Some(value()?),
                "--cairn" => options.cairn = Some(value()?),
                "--show" => options.show = true,
                "--autostarted" => options.autostarted = true,
                "--help" | "-h" => return Err(Stop::Help),
                "--version" | "-V" => return Err(Stop::Version),
                option => match FileDialog::of_option(option) {
                    Some(dialog) => options.file = Some(FileRequest::new(dialog, &value()?, dir)),
                    None => return Err(Stop::Unknown(text)),
                },
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, Stop> {
        Options::parse(
            text.split_whitespace().map(OsString::from),
            Path::new("/home/ada"),
        )
    }

    #[test]
    fn arguments_are_read_and_unknown_ones_are_named() {
        let options = parse("--show --home /tmp/h").unwrap();
        assert!(options.show && !options.autostarted);
        assert_eq!(options.home, Some("/tmp/h".into()));
        assert_eq!(parse("--home"), Err(Stop::Value("--home".into())));
        assert_eq!(parse("--frob"), Err(Stop::Unknown("--frob".into())));
        assert_eq!(parse("--help"), Err(Stop::Help));
    }

    #[test]
    fn a_file_manager_asks_about_a_file() {
        let file = parse("--versions a.txt").unwrap().file.unwrap();
        assert_eq!(file.dialog, FileDialog::Versions);
        assert_eq!(file.path, "/home/ada/a.txt");
        assert_eq!(parse("--why"), Err(Stop::Value("--why".into())));
    }
}

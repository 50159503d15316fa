//! The commands that `generate_cli_command` can write.

/// One operation and its command.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) words: &'static [&'static str],
    pub(crate) description: &'static str,
    pub(super) slots: &'static [Slot],
    pub(crate) flags: &'static [Flag],
    pub(crate) examples: &'static [&'static str],
}

/// A part of the command that takes the first of some tool arguments that is given.
pub(super) enum Slot {
    Argument {
        from: &'static [&'static str],
        needed: bool,
    },
    Option {
        flag: &'static str,
        from: &'static [&'static str],
    },
    /// `--out`: `file_path` behind the id of what is downloaded. Without an id `file_path` is what is downloaded.
    LocalTarget,
    /// The path of a folder that is not there yet: `file_path`, `query`, or the one below the other.
    NewFolder,
    /// The target of the node in the slot before: `target_folder_uuid`, or the path or new name in `query`.
    Destination,
}

impl Slot {
    /// Returns the tool arguments that the slot reads.
    pub(super) fn arguments(&self) -> &'static [&'static str] {
        match self {
            Self::Argument { from, .. } | Self::Option { from, .. } => from,
            Self::LocalTarget => &["file_path"],
            Self::NewFolder => &["file_path", "query"],
            Self::Destination => &["target_folder_uuid", "query"],
        }
    }
}

/// A flag of the command.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) takes: FlagValue,
    pub(crate) description: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum FlagValue {
    Nothing,
    /// The kind of value, for people.
    Value(&'static str),
    /// A span of time, such as `7d`.
    Time,
}

const fn flag(name: &'static str, description: &'static str) -> Flag {
    Flag {
        name,
        takes: FlagValue::Nothing,
        description,
    }
}

const fn valued_flag(name: &'static str, what: &'static str, description: &'static str) -> Flag {
    Flag {
        name,
        takes: FlagValue::Value(what),
        description,
    }
}

const fn needed_argument(from: &'static [&'static str]) -> Slot {
    Slot::Argument { from, needed: true }
}

const fn optional(from: &'static [&'static str]) -> Slot {
    Slot::Argument {
        from,
        needed: false,
    }
}

const NODE: &[&str] = &["file_uuid", "file_path"];
const FOLDER: &[&str] = &["target_folder_uuid", "file_uuid", "file_path"];
const JSON: Flag = flag("json", "Print one JSON document");

pub(super) static ALL: &[Operation] = &[
    Operation {
        name: "upload",
        words: &["upload"],
        description: "Encrypts and uploads a local file, or a folder with --recursive",
        slots: &[
            Slot::Option {
                flag: "to",
                from: &["target_folder_uuid"],
            },
            needed_argument(&["file_path"]),
        ],
        flags: &[
            valued_flag("to", "FOLDER", "Folder on the service: a path or an id"),
            valued_flag("name", "NAME", "Name on the service"),
            flag("recursive", "A folder with everything below it"),
            JSON,
        ],
        examples: &[
            "cairn upload report.pdf",
            "cairn upload --recursive --to=/backup photos",
        ],
    },
    Operation {
        name: "download",
        words: &["download"],
        description: "Downloads and decrypts a file",
        slots: &[needed_argument(NODE), Slot::LocalTarget],
        flags: &[
            valued_flag("out", "PATH", "Local target"),
            valued_flag("revision", "ID", "An old version"),
            flag("force", "Replace an existing file"),
            JSON,
        ],
        examples: &[
            "cairn download /docs/a.txt",
            "cairn download --out=/tmp/a.txt --force /docs/a.txt",
        ],
    },
    Operation {
        name: "download_folder",
        words: &["download-folder"],
        description: "Downloads a folder with everything below it",
        slots: &[needed_argument(FOLDER), Slot::LocalTarget],
        flags: &[
            valued_flag("out", "PATH", "Local target"),
            valued_flag("limit", "GIB", "Refuse a larger folder"),
            JSON,
        ],
        examples: &[
            "cairn download-folder /docs",
            "cairn download-folder --out=/tmp/docs /docs",
        ],
    },
    Operation {
        name: "list",
        words: &["list"],
        description: "Lists a folder on the service",
        slots: &[optional(FOLDER)],
        flags: &[JSON],
        examples: &["cairn list", "cairn list --json /docs"],
    },
    Operation {
        name: "tree",
        words: &["tree"],
        description: "Shows a folder with everything below it",
        slots: &[optional(FOLDER)],
        flags: &[valued_flag("depth", "LEVELS", "Number of levels"), JSON],
        examples: &["cairn tree", "cairn tree --depth=2 /docs"],
    },
    Operation {
        name: "search",
        words: &["search"],
        description: "Finds files and folders by name",
        slots: &[needed_argument(&["query"])],
        flags: &[valued_flag("limit", "N", "Maximum number of results"), JSON],
        examples: &["cairn search report", "cairn search --limit=10 report"],
    },
    Operation {
        name: "share",
        words: &["share", "create"],
        description: "Creates a share link",
        slots: &[needed_argument(NODE)],
        flags: &[
            Flag {
                name: "expires",
                takes: FlagValue::Time,
                description: "Time until it expires, such as 7d",
            },
            valued_flag("limit", "N", "Maximum number of downloads"),
            flag("view-only", "Viewing only, no download"),
            valued_flag("allow", "ADDRESS", "Only for this e-mail address"),
            valued_flag(
                "password-file",
                "FILE",
                "File with the password of the link",
            ),
            JSON,
        ],
        examples: &[
            "cairn share create /docs/a.txt",
            "cairn share create --expires=7d /docs/a.txt",
        ],
    },
    Operation {
        name: "mkdir",
        words: &["mkdir"],
        description: "Creates a folder on the service",
        slots: &[Slot::NewFolder],
        flags: &[
            flag(
                "parents",
                "Also create missing parent folders; no error if it exists",
            ),
            JSON,
        ],
        examples: &["cairn mkdir /docs", "cairn mkdir --parents /a/b/c"],
    },
    Operation {
        name: "move",
        words: &["move"],
        description: "Moves or renames a file or folder",
        slots: &[needed_argument(NODE), Slot::Destination],
        flags: &[JSON],
        examples: &["cairn move /a.txt /docs", "cairn move /a.txt /b.txt"],
    },
    Operation {
        name: "delete",
        words: &["delete"],
        description: "Moves a file or folder to the trash",
        slots: &[needed_argument(NODE)],
        flags: &[JSON],
        examples: &["cairn delete /docs/a.txt"],
    },
    Operation {
        name: "verify",
        words: &["verify"],
        description: "Checks the account's encryption, or that a file is unaltered",
        slots: &[optional(NODE)],
        flags: &[JSON],
        examples: &["cairn verify", "cairn verify /docs/a.txt"],
    },
    Operation {
        name: "info",
        words: &["info"],
        description: "Shows everything about a file or folder",
        slots: &[needed_argument(NODE)],
        flags: &[JSON],
        examples: &["cairn info /docs/a.txt"],
    },
    Operation {
        name: "versions",
        words: &["versions"],
        description: "Shows, restores or downloads versions of a file",
        slots: &[needed_argument(NODE)],
        flags: &[
            valued_flag("restore", "ID", "Make this version the current one"),
            valued_flag("download", "ID", "Download this version"),
            valued_flag("out", "PATH", "With --download: local target"),
            flag("force", "With --download: replace an existing file"),
            JSON,
        ],
        examples: &["cairn versions /docs/a.txt"],
    },
    Operation {
        name: "recovery_key",
        words: &["recovery-key"],
        description: "Shows whether a recovery key is set up",
        slots: &[],
        flags: &[JSON],
        examples: &["cairn recovery-key", "cairn recovery-key setup"],
    },
    Operation {
        name: "tokens",
        words: &["tokens"],
        description: "Shows the AI tokens and the available packs",
        slots: &[],
        flags: &[JSON],
        examples: &["cairn tokens"],
    },
    Operation {
        name: "teams",
        words: &["teams"],
        description: "Lists your teams",
        slots: &[],
        flags: &[JSON],
        examples: &["cairn teams"],
    },
    Operation {
        name: "config",
        words: &["config"],
        description: "Shows the settings",
        slots: &[],
        flags: &[JSON],
        examples: &["cairn config", "cairn config set limits.up 1MiB"],
    },
];

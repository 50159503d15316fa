//! What the command line can do, as far as `generate_cli_command` writes it.

/// One operation and its command.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) words: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(super) places: &'static [Place],
    pub(crate) flags: &'static [Flag],
    pub(crate) examples: &'static [&'static str],
}

/// Where an argument of the tool goes: the first one that is given.
pub(super) enum Place {
    Argument {
        from: &'static [&'static str],
        needed: bool,
    },
    Option {
        flag: &'static str,
        from: &'static [&'static str],
    },
}

/// A flag of the command.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) about: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum Takes {
    Nothing,
    /// What kind of value.
    Value(&'static str),
}

const fn flag(name: &'static str, about: &'static str) -> Flag {
    Flag {
        name,
        takes: Takes::Nothing,
        about,
    }
}

const fn valued(name: &'static str, what: &'static str, about: &'static str) -> Flag {
    Flag {
        name,
        takes: Takes::Value(what),
        about,
    }
}

const fn needed(from: &'static [&'static str]) -> Place {
    Place::Argument { from, needed: true }
}

const fn optional(from: &'static [&'static str]) -> Place {
    Place::Argument {
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
        about: "Encrypts and uploads a local file, or a folder with --recursive",
        places: &[
            Place::Option {
                flag: "to",
                from: &["target_folder_uuid"],
            },
            needed(&["file_path"]),
        ],
        flags: &[
            valued("to", "FOLDER", "Folder on the service: a path or an id"),
            valued("name", "NAME", "What it is called there"),
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
        about: "Downloads and decrypts a file",
        places: &[needed(&["file_uuid", "file_path"])],
        flags: &[
            valued("out", "PATH", "Where to"),
            valued("revision", "ID", "An old version"),
            flag("force", "Replace a file that is there"),
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
        about: "Downloads a folder with everything below it",
        places: &[needed(FOLDER)],
        flags: &[
            valued("out", "PATH", "Where to"),
            valued("limit", "GIB", "Refuse a larger folder"),
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
        about: "Lists a folder on the service",
        places: &[optional(FOLDER)],
        flags: &[JSON],
        examples: &["cairn list", "cairn list --json /docs"],
    },
    Operation {
        name: "tree",
        words: &["tree"],
        about: "Shows a folder with everything below it",
        places: &[optional(FOLDER)],
        flags: &[valued("depth", "LEVELS", "How deep"), JSON],
        examples: &["cairn tree", "cairn tree --depth=2 /docs"],
    },
    Operation {
        name: "search",
        words: &["search"],
        about: "Finds files and folders by name",
        places: &[needed(&["query"])],
        flags: &[valued("limit", "N", "How many at most"), JSON],
        examples: &["cairn search report", "cairn search --limit=10 report"],
    },
    Operation {
        name: "share",
        words: &["share", "create"],
        about: "Makes a share link",
        places: &[needed(NODE)],
        flags: &[
            valued("expires", "TIME", "How long it opens, such as 7d"),
            valued("limit", "N", "Downloads after which it is gone"),
            flag("view-only", "Looking only, no download"),
            valued("allow", "ADDRESS", "Only for this e-mail address"),
            valued("password-file", "FILE", "Ask for the password in this file"),
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
        about: "Makes a folder on the service",
        places: &[needed(&["file_path", "query"])],
        flags: &[
            flag(
                "parents",
                "Also the folders above it; none is needed to be missing",
            ),
            JSON,
        ],
        examples: &["cairn mkdir /docs", "cairn mkdir --parents /a/b/c"],
    },
    Operation {
        name: "move",
        words: &["move"],
        about: "Moves or renames a file or folder",
        places: &[needed(NODE), needed(&["target_folder_uuid", "query"])],
        flags: &[JSON],
        examples: &["cairn move /a.txt /docs", "cairn move /a.txt /b.txt"],
    },
    Operation {
        name: "delete",
        words: &["delete"],
        about: "Moves a file or folder to the trash",
        places: &[needed(NODE)],
        flags: &[JSON],
        examples: &["cairn delete /docs/a.txt"],
    },
    Operation {
        name: "verify",
        words: &["verify"],
        about: "Checks the account's encryption, or that a file is unaltered",
        places: &[optional(NODE)],
        flags: &[JSON],
        examples: &["cairn verify", "cairn verify /docs/a.txt"],
    },
    Operation {
        name: "info",
        words: &["info"],
        about: "Shows everything about a file or folder",
        places: &[needed(NODE)],
        flags: &[JSON],
        examples: &["cairn info /docs/a.txt"],
    },
    Operation {
        name: "versions",
        words: &["versions"],
        about: "Shows, restores or downloads versions of a file",
        places: &[needed(NODE)],
        flags: &[
            valued("restore", "ID", "Make this version the current one"),
            valued("download", "ID", "Download this version"),
            valued("out", "PATH", "With --download: where to"),
            flag("force", "With --download: replace a file that is there"),
            JSON,
        ],
        examples: &["cairn versions /docs/a.txt"],
    },
    Operation {
        name: "recovery_key",
        words: &["recovery-key"],
        about: "Tells whether a recovery key is set up",
        places: &[],
        flags: &[JSON],
        examples: &["cairn recovery-key", "cairn recovery-key setup"],
    },
    Operation {
        name: "tokens",
        words: &["tokens"],
        about: "Shows the AI tokens and the packs there are",
        places: &[],
        flags: &[JSON],
        examples: &["cairn tokens"],
    },
    Operation {
        name: "teams",
        words: &["teams"],
        about: "Lists your teams",
        places: &[],
        flags: &[JSON],
        examples: &["cairn teams"],
    },
    Operation {
        name: "config",
        words: &["config"],
        about: "Shows the settings",
        places: &[],
        flags: &[JSON],
        examples: &["cairn config", "cairn config set limits.up 1MiB"],
    },
];

//! File content, end-to-end encrypted: these need the account's passphrase.

use crate::content;
use crate::param::{choice, on, said, uuid};
use crate::tool::{Effect, Run, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "read_file_content",
        "Read file content",
        Effect::Reads,
        "Decrypts a file and returns its content. Larger files: download_file. Needs the passphrase, as all content tools do.",
        &[
            uuid("file_uuid", "File").required(),
            choice(
                "encoding",
                &["text", "base64"],
                "text: at most 10 MB; base64: at most 50 MB",
            )
            .or("text"),
        ],
        Run::Own(content::read),
    ),
    Tool::new(
        "download_file",
        "Download file",
        Effect::Replaces,
        "Decrypts a file and saves it on this machine.",
        &[
            uuid("file_uuid", "File").required(),
            said("output_path", "Local file or folder").required(),
        ],
        Run::Own(content::download_file),
    ),
    Tool::new(
        "download_folder",
        "Download folder",
        Effect::Replaces,
        "Saves a folder with everything in it on this machine; files there with the same size are skipped. At most 5 GB.",
        &[
            uuid("folder_uuid", "Folder").required(),
            said("output_path", "Local folder").required(),
        ],
        Run::Own(content::download_folder),
    ),
    Tool::new(
        "upload_file",
        "Upload file",
        Effect::Adds,
        "Encrypts and uploads a local file of at most 500 MB; a file of that name gets a new version.",
        &[
            said("local_path", "Local file").required(),
            uuid("folder_uuid", "Where to; the root if omitted"),
            said("file_name", "Name there; the local one if omitted"),
        ],
        Run::Own(content::upload_file),
    ),
    Tool::new(
        "upload_folder",
        "Upload folder",
        Effect::Adds,
        "Encrypts and uploads the files of a local folder, each at most 500 MB.",
        &[
            said("local_path", "Local folder").required(),
            uuid("folder_uuid", "Where to; the root if omitted"),
            on("recursive", "Also what lies in folders below"),
        ],
        Run::Own(content::upload_folder),
    ),
];

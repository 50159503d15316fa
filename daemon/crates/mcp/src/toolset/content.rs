//! File content, end-to-end encrypted: these need the account's passphrase.

use crate::content;
use crate::param::{choice, flag_on, local_path, node, non_empty};
use crate::question;
use crate::tool::{Effect, Run, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "read_file_content",
        "Read file content",
        Effect::ReadOnly,
        "Opens a file: decrypts it and returns its content, such as the text of a document. Larger files: download_file. Needs the passphrase, as all content tools do.",
        &[
            node("file_uuid", "File").required(),
            choice(
                "encoding",
                &["text", "base64"],
                "text: at most 10 MiB; base64: at most 50 MiB",
            )
            .or("text"),
        ],
        Run::Custom(content::read),
    )
    .returns_content(),
    Tool::new(
        "download_file",
        "Download file",
        Effect::IdempotentDestructive,
        "Decrypts a file and saves it in an allowed folder of this machine. Replaces a local file only after a person agrees.",
        &[
            node("file_uuid", "File").required(),
            local_path("output_path", "Local file or folder").required(),
        ],
        Run::Custom(content::download_file),
    )
    .asking(content::replaced_file),
    Tool::new(
        "download_folder",
        "Download folder",
        Effect::IdempotentDestructive,
        "Saves a folder with everything in it on this machine; files there with the same content are skipped. At most 5 GiB.",
        &[
            node("folder_uuid", "Folder").required(),
            local_path("output_path", "Local folder").required(),
        ],
        Run::Custom(content::download_folder),
    )
    .asking(content::replaced_files),
    Tool::new(
        "upload_file",
        "Upload file",
        Effect::Additive,
        "Encrypts and uploads a local file of at most 500 MiB; a file of that name gets a new version.",
        &[
            local_path("local_path", "Local file").required(),
            node("folder_uuid", "Target folder; the root if omitted"),
            non_empty("file_name", "Name on the service; the local one if omitted"),
        ],
        Run::Custom(content::upload_file),
    )
    .never_unasked(question::hidden_place),
    Tool::new(
        "upload_folder",
        "Upload folder",
        Effect::Additive,
        "Encrypts and uploads the files of a local folder, each at most 500 MiB.",
        &[
            local_path("local_path", "Local folder").required(),
            node("folder_uuid", "Target folder; the root if omitted"),
            flag_on("recursive", "Include subfolders"),
        ],
        Run::Custom(content::upload_folder),
    )
    .never_unasked(question::hidden_place),
];

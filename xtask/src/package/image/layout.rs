//! The image's own files (OCI image layout 1.0): the configuration, the manifest, the index. Beside them is the
//! `manifest.json` that `docker load` reads.

use super::PROGRAM;
use super::root_fs::{DATA, USER, tar};
use crate::package::build::source_date;
use crate::run::run_command;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const CONFIG_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";

/// The address that the server listens on inside of the container.
const LISTEN: &str = "0.0.0.0:8787";

/// Writes the image around a layer into a directory, and packs that.
pub(super) fn write(layer: &Path, architecture: &str, dir: &Path, archive: &Path) -> Result<()> {
    let blobs = dir.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let plain = digest(layer)?;
    run_command(
        Command::new("gzip")
            .arg("-9nc")
            .arg(layer)
            .stdout(File::create(dir.join("layer"))?),
    )?;
    let layer = add(&blobs, &dir.join("layer"), LAYER_TYPE)?;
    let config = config(architecture, &plain)?;
    let config = add_json(&blobs, dir, &config, CONFIG_TYPE)?;
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": config, "layers": [layer]});
    let mut manifest = add_json(&blobs, dir, &manifest, MANIFEST_TYPE)?;
    let version = env!("CARGO_PKG_VERSION");
    manifest["platform"] = json!({"architecture": architecture, "os": "linux"});
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": version});
    let index = json!({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [manifest]});
    let for_docker = json!([{
        "Config": blob_path(&config)?,
        "RepoTags": [format!("{PROGRAM}:{version}")],
        "Layers": [blob_path(&layer)?],
    }]);
    fs::write(dir.join("index.json"), index.to_string())?;
    fs::write(dir.join("manifest.json"), for_docker.to_string())?;
    fs::write(
        dir.join("oci-layout"),
        json!({"imageLayoutVersion": "1.0.0"}).to_string(),
    )?;
    let date = source_date()?;
    run_command(tar("--create", dir, archive, &date).args([
        "--owner=0",
        "--group=0",
        "--mode=u=rwX,go=rX",
        "oci-layout",
        "index.json",
        "manifest.json",
        "blobs",
    ]))
}

/// Returns the configuration: how the server is started, and as whom.
fn config(architecture: &str, layer: &str) -> Result<Value> {
    ensure!(
        ["amd64", "arm64"].contains(&architecture),
        "there is no image for {architecture}"
    );
    let created = OffsetDateTime::from_unix_timestamp(source_date()?.parse()?)?.format(&Rfc3339)?;
    let program = format!("/usr/bin/{PROGRAM}");
    let second = 1_000_000_000_u64;
    Ok(json!({
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": {"8787/tcp": {}},
            "Env": ["PATH=/usr/bin", format!("CAIRN_SERVER_DATA=/{DATA}")],
            "Entrypoint": [program],
            "Cmd": ["serve", "--listen", LISTEN],
            "Volumes": {format!("/{DATA}"): {}},
            "WorkingDir": format!("/{DATA}"),
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": PROGRAM,
                "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
            // Docker's own; others leave it out.
            "Healthcheck": {
                "Test": ["CMD", program, "health"],
                "Interval": 30 * second,
                "Timeout": 15 * second,
                "StartPeriod": 30 * second,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created": created, "created_by": "cargo xtask image"}],
    }))
}

/// Moves a file to the blobs; returns its descriptor.
fn add(blobs: &Path, file: &Path, media_type: &str) -> Result<Value> {
    let (digest, size) = (digest(file)?, fs::metadata(file)?.len());
    fs::rename(file, blobs.join(&digest))?;
    Ok(json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": size}))
}

fn add_json(blobs: &Path, dir: &Path, content: &Value, media_type: &str) -> Result<Value> {
    let file = dir.join("blob");
    fs::write(&file, content.to_string())?;
    add(blobs, &file, media_type)
}

/// Returns the place of a blob in the archive.
fn blob_path(descriptor: &Value) -> Result<String> {
    let digest = descriptor["digest"].as_str();
    let digest = digest.context("a descriptor has a digest")?;
    Ok(format!("blobs/{}", digest.replace(':', "/")))
}

/// Returns the SHA-256 of a file in hexadecimal digits.
fn digest(file: &Path) -> Result<String> {
    let output = Command::new("sha256sum")
        .arg(file)
        .output()
        .context("can't run sha256sum")?;
    let text = String::from_utf8(output.stdout)?;
    let digest = text.split_whitespace().next().unwrap_or_default();
    ensure!(
        output.status.success() && digest.len() == 64,
        "sha256sum can't read {}",
        file.display()
    );
    Ok(digest.to_owned())
}

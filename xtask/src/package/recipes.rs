//! The sources from which other package managers build Cairn: an archive of the source, and recipes for Arch Linux (makepkg) and
//! Homebrew that name it with its checksum.

use crate::run::{root, run_command, target};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The recipes in `packaging/recipes`.
const RECIPES: [&str; 2] = ["PKGBUILD", "cairn.rb"];
/// The project's page, where nobody has published it.
const UNPUBLISHED: &str = "https://localhost/";

/// Writes the archive of the last commit and the recipes into `target/package`. `url` is the folder in which the
/// archive is published; without one the recipes take it from there.
pub(crate) fn write(url: Option<&str>) -> Result<()> {
    let to = target().join("package");
    fs::create_dir_all(&to)?;
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("cairn-{version}.tar.gz");
    let archive = to.join(&name);
    run_command(
        Command::new("git")
            .current_dir(root())
            .args(["archive", "--format=tar.gz"])
            .arg(format!("--prefix=cairn-{version}/"))
            .arg("--output")
            .arg(&archive)
            .arg("HEAD"),
    )?;
    let address = match url {
        Some(url) => format!("{}/{name}", url.trim_end_matches('/')),
        None => format!("file://{}", archive.display()),
    };
    let hash = sha256(&archive)?;
    for recipe in RECIPES {
        let template = fs::read_to_string(root().join("packaging/recipes").join(recipe))?;
        let text = fill(&template, &address, url.unwrap_or(UNPUBLISHED), &hash)?;
        let file = to.join(recipe);
        fs::write(&file, text)?;
        println!("{}", file.display());
    }
    println!("{}", archive.display());
    Ok(())
}

/// Fills a recipe in.
fn fill(template: &str, address: &str, url: &str, hash: &str) -> Result<String> {
    let text = template
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@ARCHIVE@", address)
        .replace("@URL@", url)
        .replace("@SHA256@", hash);
    let left = text
        .lines()
        .find(|line| line.contains('@') && !line.contains("$@"));
    ensure!(
        left.is_none(),
        "a recipe has something else to fill in: {left:?}"
    );
    Ok(text)
}

fn sha256(file: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg(file).output()?;
    let text = String::from_utf8(output.stdout)?;
    let hash = text.split_whitespace().next();
    Ok(hash.context("sha256sum prints a hash")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::contents::{COMPLETIONS, ICONS, PACKAGES};

    fn filled(recipe: &str) -> String {
        let path = root().join("packaging/recipes").join(recipe);
        let template = fs::read_to_string(path).unwrap();
        fill(
            &template,
            "file:///cairn.tar.gz",
            "https://example.com",
            &"0".repeat(64),
        )
        .unwrap()
    }

    #[test]
    fn the_package_build_is_a_script_with_a_function_for_each_package() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("PKGBUILD");
        fs::write(&file, filled("PKGBUILD")).unwrap();
        let asked = r#"set -eu; . "$0"; echo "${pkgname[@]}"; echo "$pkgver"
            for one in "${pkgname[@]}"; do declare -F "package_$one"; done; declare -F prepare build check"#;
        let output = Command::new("bash")
            .args(["-c", asked])
            .arg(&file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let names: Vec<&str> = PACKAGES.iter().map(|package| package.name).collect();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..2],
            [names.join(" ").as_str(), env!("CARGO_PKG_VERSION")]
        );
        assert_eq!(lines.len(), 2 + names.len() + 3, "{text}");
    }

    #[test]
    fn the_recipes_install_what_the_debian_packages_do() {
        let text = filled("PKGBUILD");
        for package in &PACKAGES {
            assert!(text.contains(&format!("target/release/{} ", package.program)));
            for (from, _) in package
                .files
                .iter()
                .filter(|(from, _)| !from.contains("grafana"))
            {
                assert!(text.contains(from), "{from} is not installed");
            }
        }
        for (shell, _) in COMPLETIONS {
            assert!(text.contains(&format!("\n{shell} ")), "{shell}");
        }
        let sizes: Vec<String> = ICONS.iter().map(ToString::to_string).collect();
        assert!(text.contains(&format!("for size in {};", sizes.join(" "))));
        let formula = filled("cairn.rb");
        for crate_folder in ["daemon", "server"] {
            assert!(formula.contains(&format!("std_cargo_args(path: \"{crate_folder}\")")));
            assert!(root().join(crate_folder).join("Cargo.toml").is_file());
        }
    }

    #[test]
    fn a_slot_that_nothing_fills_is_an_error() {
        assert!(fill("x=@OTHER@", "", "", "").is_err());
        assert_eq!(
            fill("v=@VERSION@", "", "", "").unwrap(),
            concat!("v=", env!("CARGO_PKG_VERSION"))
        );
    }
}

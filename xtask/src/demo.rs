//! A tour in one command: a server and two devices on this machine, real files, and proof of what is
//! claimed. It runs the product through its command line only, as a person would.

mod device;
mod files;
mod programs;
mod proof;

use anyhow::{Context as _, Result, bail, ensure};
use device::{Device, wait_until};
use programs::{Programs, Server};
use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EMAIL: &str = "demo@example.com";
const PASSPHRASE: &str = "correct horse battery staple";
/// Enough for thousands of files on a slow disk; a demo that hangs ends.
const TIME_LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn run(folder: Option<PathBuf>, keep: bool) -> Result<()> {
    let programs = Programs::find()?;
    let dir = tempfile::Builder::new()
        .prefix("cairn-demo-")
        .tempdir()
        .context("can't make a directory for the demo")?;
    let dir_path = dir.path().canonicalize()?;

    let source = match folder {
        Some(folder) => folder,
        None => files::on_this_machine()?,
    };
    let (mut server, mut laptop, mut desktop) = set_up(&programs, &dir_path)?;
    let sample = files::copy_sample(&source, &laptop.folder)?;
    print_step(&format!(
        "copied {} files, {} from {} into the laptop's folder",
        sample.files,
        size(sample.bytes),
        source.display()
    ));

    first_sync(&mut laptop, &mut desktop, &sample)?;
    prove(&laptop, &desktop, &server)?;
    edit(&laptop, &desktop)?;
    rename(&laptop, &desktop)?;
    conflict(&laptop, &desktop)?;
    let hash = proof::equal(&laptop.folder, &desktop.folder)?.hash;
    print_step(&format!(
        "at the end both sides are equal again: {}",
        &hash[..16]
    ));

    print_next_steps(&programs, &laptop, &desktop, &server);
    if keep {
        println!(
            "\nEverything keeps running. Enter ends it and removes {}",
            dir_path.display()
        );
        // The end of the input counts as Enter.
        std::io::stdin().read_line(&mut String::new())?;
    }
    laptop.stop()?;
    desktop.stop()?;
    server.stop()?;
    dir.close().context("can't remove the demo's directory")?;
    println!("\nEverything the demo started has ended, and its files are gone.");
    Ok(())
}

fn set_up(programs: &Programs, dir: &Path) -> Result<(Server, Device, Device)> {
    let server = Server::start(programs, &dir.join("server"))?;
    print_step(&format!(
        "server at {}, data in {}",
        server.url,
        server.data.display()
    ));
    let key = server.account(programs, EMAIL, "not-the-passphrase")?;
    let passphrase = dir.join("passphrase");
    fs::write(&passphrase, PASSPHRASE)?;
    let login = |name: &str| -> Result<Device> {
        let begun = Instant::now();
        let device = Device::new(programs, dir, name)?;
        device.login(&server.url, &key, &passphrase)?;
        device.add("/Demo")?;
        print_step(&format!(
            "{name} logged in ({:.1} s, most of it to turn the passphrase into a key)",
            begun.elapsed().as_secs_f64()
        ));
        Ok(device)
    };
    // The first login makes the keys, the second opens them.
    let laptop = login("laptop")?;
    let desktop = login("desktop")?;
    Ok((server, laptop, desktop))
}

fn first_sync(laptop: &mut Device, desktop: &mut Device, sample: &files::Sample) -> Result<()> {
    let begun = Instant::now();
    laptop.start()?;
    desktop.start()?;
    let shown = std::io::stdout().is_terminal();
    wait_until("both sides to hold all files", TIME_LIMIT, || {
        let (up, down) = (laptop.status()?, desktop.status()?);
        let arrived = files::count(&desktop.folder);
        if shown {
            print!("\r{}", progress(up.pending, arrived, sample.files));
            std::io::Write::flush(&mut std::io::stdout())?;
        }
        Ok(arrived >= sample.files && up.pending == 0 && down.pending == 0)
    })?;
    if shown {
        println!();
    }
    let took = begun.elapsed().as_secs_f64();
    laptop.wait_synced()?;
    desktop.wait_synced()?;
    print_step(&format!(
        "{} files, {} from laptop through the server to desktop in {took:.1} s ({:.0} files/s, {}/s)",
        sample.files,
        size(sample.bytes),
        sample.files as f64 / took,
        size((sample.bytes as f64 / took) as u64)
    ));
    Ok(())
}

fn prove(laptop: &Device, desktop: &Device, server: &Server) -> Result<()> {
    let digest = proof::equal(&laptop.folder, &desktop.folder)?;
    print_step(&format!(
        "both sides are equal: {} files, {}, one BLAKE3 over names and contents: {}",
        digest.files,
        size(digest.bytes),
        &digest.hash[..16]
    ));
    let search = proof::search(&laptop.folder, &server.data)?;
    print_step(&format!(
        "searched {} of server data for {} samples of the files' contents: {} found (the same search \
         in the folder itself finds {})",
        size(search.searched),
        search.samples,
        search.found,
        search.control
    ));
    ensure!(search.found == 0, "the server holds plaintext");
    ensure!(
        search.control == search.samples,
        "the search finds nothing at all"
    );
    print_step(
        "what the server can read: names of files and folders, sizes, times (docs/threat-model.md)",
    );
    Ok(())
}

fn edit(laptop: &Device, desktop: &Device) -> Result<()> {
    let (ours, theirs) = (
        laptop.folder.join("note.txt"),
        desktop.folder.join("note.txt"),
    );
    let begun = Instant::now();
    fs::write(&ours, "written on the laptop\n")?;
    wait_until("the note to arrive", TIME_LIMIT, || {
        Ok(fs::read(&theirs).is_ok_and(|text| text == b"written on the laptop\n"))
    })?;
    let milliseconds = begun.elapsed().as_millis();
    print_step(&format!(
        "a new note was on the desktop {milliseconds} ms after it was saved on the laptop"
    ));
    laptop.wait_synced()?;
    desktop.wait_synced()
}

fn rename(laptop: &Device, desktop: &Device) -> Result<()> {
    let Some((name, inside)) = files::largest_directory(&laptop.folder)? else {
        return Ok(());
    };
    let before = laptop.status()?.uploaded_bytes + desktop.status()?.downloaded_bytes;
    let new = format!("{name} (renamed)");
    let begun = Instant::now();
    fs::rename(laptop.folder.join(&name), laptop.folder.join(&new))?;
    let (gone, here) = (desktop.folder.join(&name), desktop.folder.join(&new));
    wait_until("the renamed folder to arrive", TIME_LIMIT, || {
        Ok(here.is_dir() && !gone.exists())
    })?;
    let milliseconds = begun.elapsed().as_millis();
    laptop.wait_synced()?;
    desktop.wait_synced()?;
    let moved = laptop.status()?.uploaded_bytes + desktop.status()?.downloaded_bytes - before;
    print_step(&format!(
        "renaming the folder `{name}` with {inside} files took {milliseconds} ms and moved {} of content",
        size(moved)
    ));
    Ok(())
}

fn conflict(laptop: &Device, desktop: &Device) -> Result<()> {
    for device in [laptop, desktop] {
        device.cli(&["pause"])?;
    }
    fs::write(laptop.folder.join("note.txt"), "the laptop's version\n")?;
    fs::write(desktop.folder.join("note.txt"), "the desktop's version\n")?;
    for device in [laptop, desktop] {
        device.cli(&["resume"])?;
        device.wait_synced()?;
    }
    laptop.wait_synced()?;
    let conflicts = desktop.cli(&["conflicts"])?;
    let copies = files::conflict_copies(&desktop.folder, "note")?;
    let [copy] = copies.as_slice() else {
        bail!("expected one conflict copy of the note, found {copies:?}");
    };
    let kept = fs::read_to_string(desktop.folder.join("note.txt"))?;
    let beside = fs::read_to_string(desktop.folder.join(copy))?;
    let mut both = [kept.trim(), beside.trim()];
    both.sort_unstable();
    ensure!(
        both == ["the desktop's version", "the laptop's version"],
        "a version of the note was lost: {both:?}"
    );
    let count = conflicts["conflicts"].as_array().map_or(0, Vec::len);
    print_step(&format!(
        "both edited one note while offline: `note.txt` holds {}, beside it stands `{copy}`; \
         `cairn conflicts` lists {count}",
        kept.trim()
    ));
    Ok(())
}

fn print_next_steps(programs: &Programs, laptop: &Device, desktop: &Device, server: &Server) {
    let cairn = programs.cairn.display();
    println!(
        "\nTo continue by hand (with --keep all of this is still there):\n\
         \n  export CAIRN_HOME={}\n  {cairn} status --watch\n  {cairn} conflicts\n  \
         {cairn} resolve {} --keep mine\n  {cairn} activity\n  {cairn} list /Demo\n\
         \n  the laptop's folder   {}\n  the desktop's folder  {}\n  the server            {}",
        desktop.home.display(),
        desktop.folder.join("note.txt").display(),
        laptop.folder.display(),
        desktop.folder.display(),
        server.url,
    );
}

/// `sending 120 left   [######........] 2048 of 4212 files on the desktop`
fn progress(pending: u64, arrived: u64, all: u64) -> String {
    const WIDTH: u64 = 30;
    let filled = (arrived * WIDTH)
        .checked_div(all)
        .unwrap_or(WIDTH)
        .min(WIDTH);
    let bar: String = (0..WIDTH)
        .map(|at| if at < filled { '#' } else { '.' })
        .collect();
    format!("sending {pending:>6} left   [{bar}] {arrived:>6} of {all} files on the desktop ")
}

fn print_step(text: &str) {
    println!("• {text}");
}

/// Bytes for people, with decimal units.
fn size(bytes: u64) -> String {
    let units = ["kB", "MB", "GB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in units {
        // From there on one decimal would be rounded to 1000.0.
        let limit = if unit == "B" { 1000.0 } else { 999.95 };
        if value < limit {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit == "B" {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_with_one_decimal() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_500), "1.5 kB");
        assert_eq!(size(124_000_000), "124.0 MB");
        assert_eq!(size(999_940), "999.9 kB");
        assert_eq!(size(999_960), "1.0 MB");
    }

    #[test]
    fn a_progress_bar_never_overflows() {
        assert!(progress(0, 5, 10).contains("[###############...............]"));
        assert!(progress(0, 20, 10).contains(&"#".repeat(30)));
        assert!(progress(0, 0, 0).contains(&"#".repeat(30)));
    }
}

//! A plain encrypted copy, the least that any program has to do: one program encrypts a file, the bytes go through a
//! counting proxy, and lie in a file at the other end.

use super::counting_proxy;
use anyhow::{Context as _, Result, bail, ensure};
use std::fs::File;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

/// Copies a file through a cipher and the proxy; returns the seconds, or nothing where there is no OpenSSL.
pub(crate) fn seconds(file: &Path, to: &Path) -> Result<Option<f64>> {
    if crate::machine::version("openssl", "version").is_none() {
        eprintln!("openssl is not installed: nothing is compared with a plain encrypted copy");
        return Ok(None);
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let proxy = counting_proxy(listener.local_addr()?.port())?;
    let mut target = File::create(to)?;
    let start = Instant::now();
    let receiver = thread::spawn(move || io::copy(&mut listener.accept()?.0, &mut target));
    let mut cipher = Command::new("openssl")
        .args(["enc", "-chacha20", "-pbkdf2", "-pass", "pass:a passphrase"])
        .arg("-in")
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("`openssl enc` can't be started")?;
    let mut sealed = cipher.stdout.take().context("it has no output")?;
    let mut line = TcpStream::connect(("127.0.0.1", proxy.port()))?;
    let sent = io::copy(&mut sealed, &mut line)?;
    line.shutdown(Shutdown::Write)?;
    let Ok(received) = receiver.join() else {
        bail!("the end of the copy broke off");
    };
    let received = received?;
    let seconds = start.elapsed().as_secs_f64();
    ensure!(cipher.wait()?.success(), "`openssl enc` failed");
    let plain = file.metadata()?.len();
    ensure!(
        received == sent && received >= plain,
        "{received} of {sent} bytes came, of a file of {plain}"
    );
    Ok(Some(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_copy_has_all_bytes_and_none_in_the_clear() {
        let dir = tempfile::tempdir().unwrap();
        let (file, copy) = (dir.path().join("plain"), dir.path().join("sealed"));
        std::fs::write(&file, b"something to read ".repeat(10_000)).unwrap();
        if seconds(&file, &copy).unwrap().is_some() {
            let sealed = std::fs::read(&copy).unwrap();
            assert!(sealed.len() >= 180_000);
            assert!(!sealed.windows(9).any(|part| part == b"something"));
        }
    }
}

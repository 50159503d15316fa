//! A long line that loses packets: 100 ms there and back, 1 of 100 packets lost, 100 Mbit/s.

use super::{Bench, clear, small};
use crate::data::{Amount, amount, big_file, small_files};
use crate::line::{FAR, Line, NEAR, Quality};
use crate::machine::settle_disk;
use crate::peer::cairn::CairnPush;
use crate::peer::{Push as _, Tool};
use crate::process::Run;
use crate::table::{Measure, Results};
use anyhow::{Context as _, Result, ensure};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const TITLE: &str = "a long line: 100 ms there and back, 1 % lost, 100 Mbit/s";
pub(crate) const BIG_UP: &str = "one file of 256 MiB over a long line, up";
pub(crate) const BIG_DOWN: &str = "one file of 256 MiB over a long line, down";
pub(crate) const SMALL_UP: &str = "10,000 small files (200 MB) over a long line, up";
pub(crate) const SMALL_DOWN: &str = "10,000 small files (200 MB) over a long line, down";
const BIG: u64 = 256 << 20;
const PLAIN: u64 = 64 << 20;
const QUALITY: Quality = Quality {
    round_trip: Duration::from_millis(100),
    loss: 0.01,
    bits_per_second: 100e6,
};
/// The most of a batch of small files, see the limits of the protocol.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: u64 = 8 << 20;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    if !bench.has(Tool::Cairn) {
        return Ok(());
    }
    let _line = match Line::start(QUALITY) {
        Ok(line) => line,
        Err(error) => {
            eprintln!("the long line is left out: {error:#}");
            return Ok(());
        }
    };
    let plain = plain_bytes_per_second(bench.bytes(PLAIN))?;
    eprintln!(
        "   one plain TCP connection carries {:.1} Mbit/s over the line",
        plain * 8.0 / 1e6
    );
    let folder = bench.part("line-big")?;
    big_file(&folder.join("big.dat"), bench.bytes(BIG), 80)?;
    let (up, down, made) = there_and_back(bench, &folder)?;
    for (row, run) in [(BIG_UP, up), (BIG_DOWN, down)] {
        let share = made.bytes as f64 * 8.0 / run.seconds / QUALITY.bits_per_second;
        results.add(row, Measure::Seconds, Tool::Cairn, run.seconds);
        results.add(row, Measure::OfLine, Tool::Cairn, share * 100.0);
    }
    let speed = made.bytes as f64 / up.seconds;
    results.add(BIG_UP, Measure::OfPlainLine, Tool::Cairn, speed / plain);
    let folder = bench.part("line-small")?;
    let (files, bytes) = (bench.files(small::FILES), bench.bytes(small::BYTES));
    small_files(&folder, files, bytes, 10)?;
    let (up, down, made) = there_and_back(bench, &folder)?;
    for (row, run) in [(SMALL_UP, up), (SMALL_DOWN, down)] {
        let times = run.seconds / allowed_by_batches(made);
        results.add(row, Measure::Seconds, Tool::Cairn, run.seconds);
        results.add(row, Measure::OfBatches, Tool::Cairn, times);
    }
    Ok(())
}

/// Sends a folder to a server at the other end, and brings it to a second device; clears it.
fn there_and_back(bench: &Bench, folder: &Path) -> Result<(Run, Run, Amount)> {
    let made = amount(folder)?;
    let dir = bench.part("line-devices")?;
    let mut push = CairnPush::over_line(&dir)?;
    settle_disk();
    let up = push.push(folder)?;
    let pulled = bench.part("line-devices/pulled")?;
    settle_disk();
    let down = push.pull(&pulled)?;
    let came = amount(&pulled)?;
    ensure!(came == made, "the line brought back {came:?} of {made:?}");
    drop(push);
    clear(&dir)?;
    clear(folder)?;
    Ok((up, down, made))
}

/// Returns the seconds that the bytes and one round trip for each batch take, one batch after the other.
fn allowed_by_batches(made: Amount) -> f64 {
    let by_bytes = made.bytes.div_ceil(BATCH_BYTES) as usize;
    let batches = made.files.div_ceil(BATCH_FILES).max(by_bytes);
    let bytes = made.bytes as f64 * 8.0 / QUALITY.bits_per_second;
    bytes + batches as f64 * QUALITY.round_trip.as_secs_f64()
}

/// Sends bytes over one connection, until the other end says that it has them all.
fn plain_bytes_per_second(bytes: u64) -> Result<f64> {
    let listener = TcpListener::bind((NEAR, 0))?;
    let address = SocketAddr::from((FAR, listener.local_addr()?.port()));
    let receiver = thread::spawn(move || -> std::io::Result<()> {
        let mut stream = listener.accept()?.0;
        std::io::copy(&mut stream, &mut std::io::sink())?;
        stream.write_all(b"x")
    });
    let start = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    std::io::copy(&mut std::io::repeat(7).take(bytes), &mut stream)?;
    stream.shutdown(Shutdown::Write)?;
    stream.read_exact(&mut [0])?;
    let seconds = start.elapsed().as_secs_f64();
    let ended = receiver.join().ok().context("the other end broke off")?;
    ended?;
    Ok(bytes as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cost_their_bytes_and_a_round_trip_each() {
        let of = |files, bytes| allowed_by_batches(Amount { files, bytes });
        assert!((of(256, 12_500) - 0.101).abs() < 1e-9);
        assert!((of(257, 12_500) - 0.201).abs() < 1e-9);
        // 25 MB take 2 s, and three batches by their bytes.
        assert!((of(10, 25_000_000) - 2.3).abs() < 1e-9);
    }
}

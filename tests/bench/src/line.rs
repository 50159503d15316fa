//! A long line that loses packets, without a kernel that can make one: packets that the kernel routes to the far end go
//! through a device of this program, which delays them, drops some, and lets no more through than the line carries.
//!
//! Both ends are this machine. A packet to [`FAR`] comes back with its addresses exchanged, as if the other end had
//! sent it to [`NEAR`]: the checksums are sums, so they stay right. Losses and delays meet the kernel's TCP itself,
//! which sends again and slows down as it does on any line.

mod carry;
mod direction;

pub(crate) use self::carry::carry;

use crate::peer::Service;
use anyhow::{Context as _, Result, bail, ensure};
use cairn_e2e::wait;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

/// The end at which the server listens: two addresses of the network that RFC 2544 keeps for measurements.
pub(crate) const NEAR: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 1);
/// The address at which what goes over the line is sent.
pub(crate) const FAR: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 2);
const DEVICE: &str = "cairn-line";
/// Opens the device as the standard input of the program that carries the packets.
const ATTACH: &str = include_str!("line/attach.py");

/// Length, losses and width of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quality {
    pub(crate) round_trip: Duration,
    /// Part of the packets that are lost, each way.
    pub(crate) loss: f64,
    pub(crate) bits_per_second: f64,
}

/// A line that exists until it is dropped.
pub(crate) struct Line {
    carrier: Service,
}

impl Line {
    /// Makes the device and both addresses. Needs the right to do so: root's, or that of a network namespace.
    pub(crate) fn start(quality: Quality) -> Result<Self> {
        let program = std::env::current_exe()?;
        let carrier = Command::new("python3")
            .args(["-c", ATTACH, DEVICE])
            .arg(program)
            .args(["--carry-line", &quality.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .context("python3 can't be started")?;
        let mut line = Self {
            carrier: Service(carrier),
        };
        line.wait_for_device()?;
        ip(&["address", "add", &format!("{NEAR}/30"), "dev", DEVICE])?;
        ip(&["link", "set", DEVICE, "up"])?;
        Ok(line)
    }

    fn wait_for_device(&mut self) -> Result<()> {
        wait::holds("the line's device is there", wait::PROCESS, || {
            if let Some(status) = self.carrier.0.try_wait()? {
                bail!(
                    "the line's device can't be made ({status}): it takes root's rights and /dev/net/tun"
                );
            }
            Ok(std::path::Path::new("/sys/class/net").join(DEVICE).exists())
        })
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    let status = Command::new("ip").args(arguments).status();
    let status = status.context("`ip` can't be run (apt-get install iproute2)")?;
    ensure!(status.success(), "`ip {}` failed", arguments.join(" "));
    Ok(())
}

impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{},{},{}",
            self.round_trip.as_micros(),
            self.loss,
            self.bits_per_second
        )
    }
}

impl FromStr for Quality {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split(',');
        let mut next = || parts.next().context("a line has three numbers");
        Ok(Self {
            round_trip: Duration::from_micros(next()?.parse()?),
            loss: next()?.parse()?,
            bits_per_second: next()?.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quality_survives_its_way_to_the_other_program() {
        let quality = Quality {
            round_trip: Duration::from_millis(100),
            loss: 0.01,
            bits_per_second: 100e6,
        };
        assert_eq!(quality.to_string().parse::<Quality>().unwrap(), quality);
        assert!("100,0.01".parse::<Quality>().is_err());
    }
}

//! The program behind the device: reads packets, and gives them back exchanged, when they arrive.

use super::direction::Direction;
use super::{FAR, NEAR, Quality};
use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

const LARGEST: usize = 65_536;
const TCP: u8 = 6;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// One direction, and the thread that hands its packets over.
struct Lane {
    direction: Direction,
    packets: Sender<(Instant, Vec<u8>)>,
}

/// Carries packets between the ends until the device is closed. The device is the standard input.
pub(crate) fn carry(quality: Quality) -> Result<()> {
    let device = io::stdin().as_fd().try_clone_to_owned()?;
    let device = Arc::new(File::from(device));
    let mut up = lane(&device, quality, 1);
    let mut down = lane(&device, quality, 2);
    let mut server = None;
    let mut buffer = vec![0; LARGEST];
    loop {
        let length = (&*device).read(&mut buffer)?;
        let mut packet = buffer[..length].to_vec();
        if !exchange(&mut packet) {
            continue;
        }
        let ports = ports(&packet);
        if let Some((_, to, true)) = ports {
            server = Some(to);
        }
        let goes_up = ports.is_some_and(|(_, to, _)| Some(to) == server);
        let lane = if goes_up { &mut up } else { &mut down };
        if let Some(arrival) = lane.direction.arrival(Instant::now(), length) {
            let sent = lane.packets.send((arrival, packet));
            sent.ok().context("the end of the line is gone")?;
        }
    }
}

fn lane(device: &Arc<File>, quality: Quality, seed: u64) -> Lane {
    let (packets, coming) = channel();
    let device = Arc::clone(device);
    thread::spawn(move || hand_over(&device, &coming));
    Lane {
        direction: Direction::new(quality, seed),
        packets,
    }
}

fn hand_over(device: &File, coming: &Receiver<(Instant, Vec<u8>)>) {
    let mut device = device;
    for (arrival, packet) in coming {
        thread::sleep(arrival.saturating_duration_since(Instant::now()));
        // A packet that the kernel does not take is one more that is lost.
        let _ = device.write(&packet);
    }
}

/// Makes a packet from the near end to the far one come from there; returns whether it is such a packet.
fn exchange(packet: &mut [u8]) -> bool {
    let addresses = packet.get_mut(12..20);
    let wanted = [NEAR.octets(), FAR.octets()].concat();
    match addresses {
        Some(addresses) if *addresses == *wanted => addresses.rotate_left(4),
        Some(_) | None => return false,
    }
    packet.first().is_some_and(|first| first >> 4 == 4)
}

/// Returns the ports of a packet of TCP, from and to, and whether it asks for a connection.
fn ports(packet: &[u8]) -> Option<(u16, u16, bool)> {
    let header = usize::from(packet.first()? & 0x0f) * 4;
    if *packet.get(9)? != TCP {
        return None;
    }
    let number = |at: usize| {
        let bytes = packet.get(header + at..header + at + 2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let flags = packet.get(header + 13)?;
    let asks = flags & (SYN | ACK) == SYN;
    Some((number(0)?, number(2)?, asks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(from: [u8; 4], to: [u8; 4], flags: u8) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = TCP;
        packet[12..16].copy_from_slice(&from);
        packet[16..20].copy_from_slice(&to);
        packet[20..24].copy_from_slice(&[0x9c, 0x40, 0x1f, 0x90]);
        packet[33] = flags;
        packet
    }

    #[test]
    fn a_packet_to_the_far_end_comes_back_from_there() {
        let mut there = packet(NEAR.octets(), FAR.octets(), SYN);
        assert!(exchange(&mut there));
        assert_eq!(there, packet(FAR.octets(), NEAR.octets(), SYN));
        let mut foreign = packet([10, 0, 0, 1], FAR.octets(), SYN);
        assert!(!exchange(&mut foreign) && !exchange(&mut [0x60; 8]));
    }

    #[test]
    fn the_first_packet_of_a_connection_names_the_server() {
        let between = |flags| ports(&packet(NEAR.octets(), FAR.octets(), flags));
        assert_eq!(between(SYN), Some((40_000, 8080, true)));
        assert_eq!(between(SYN | ACK), Some((40_000, 8080, false)));
        assert_eq!(ports(&[0x45; 10]), None);
    }
}

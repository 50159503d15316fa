//! The encoding of the bodies of control statements (signed changes of members, keys and devices).

use super::{
    Checkpoint, ControlBody, Device, DeviceList, Epoch, Genesis, IdentityChange, Invitation,
    Joined, LinkNotice, Member, Rejoin, Role, Roster,
};
use crate::bytes::{Reader, Writer};
use crate::error::{LogError, Result};
use cairn_model::NodeId;
use uuid::Uuid;

impl Genesis {
    pub(crate) fn write(&self, out: &mut Writer) {
        out.u8(u8::from(self.is_private))
            .raw(self.account.as_bytes())
            .raw(&self.identity)
            .u48(self.clock_ms)
            .raw(&self.random);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            is_private: choice(reader, [0, 1])?,
            account: reader.account()?,
            identity: reader.array()?,
            clock_ms: reader.u48()?,
            random: reader.array()?,
        })
    }
}

impl ControlBody {
    pub(in crate::control) fn write(&self, out: &mut Writer) -> Result<()> {
        match self {
            Self::Genesis(genesis) => {
                genesis.write(out);
            }
            Self::Roster(roster) => {
                out.raw(&roster.encode_members()).raw(&roster.boxes);
                match &roster.signed {
                    Some((by, signature)) => out.raw(by.as_bytes()).raw(signature),
                    None => out.raw(&[0; 80]),
                };
            }
            Self::Epoch(epoch) => {
                out.v(epoch.epoch).raw(&epoch.check).raw(&epoch.boxes);
            }
            Self::DeviceList(list) => write_devices(list, out)?,
            Self::Invitation(invitation) => {
                out.raw(&invitation.invite)
                    .raw(&invitation.token)
                    .u8(invitation.role.map_or(0, Role::code))
                    .u48(invitation.expiry_ms);
            }
            Self::Checkpoint(checkpoint) => {
                out.v(checkpoint.position)
                    .raw(&checkpoint.root)
                    .raw(&checkpoint.digest)
                    .v(checkpoint.epoch);
            }
            Self::Link(link) => {
                out.u8(link.act)
                    .raw(link.top.as_bytes())
                    .v(link.listing)
                    .raw(&link.hash);
            }
            Self::Rejoin(rejoin) => {
                out.raw(&rejoin.history).v(rejoin.size).raw(&rejoin.root);
            }
            Self::Joined(joined) => {
                out.u8(if joined.is_in { 1 } else { 0 })
                    .raw(&joined.genesis)
                    .v(joined.size)
                    .raw(&joined.root);
            }
            Self::Identity(change) => {
                out.u8(if change.is_objection { 2 } else { 1 })
                    .raw(&change.old)
                    .raw(&change.new)
                    .raw(&change.signature);
            }
        }
        Ok(())
    }

    pub(in crate::control) fn read(kind: u8, reader: &mut Reader<'_>) -> Result<Self> {
        Ok(match kind {
            32 => Self::Genesis(Genesis::read(reader)?),
            33 => Self::Roster(read_roster(reader)?),
            34 => Self::Epoch(Epoch {
                epoch: reader.v()?,
                check: reader.array()?,
                boxes: reader.array()?,
            }),
            35 => Self::DeviceList(read_devices(reader)?),
            36 => Self::Invitation(Invitation {
                invite: reader.array()?,
                token: reader.array()?,
                role: match reader.u8()? {
                    0 => None,
                    code => Some(Role::from_code(code)?),
                },
                expiry_ms: reader.u48()?,
            }),
            37 => Self::Checkpoint(Checkpoint {
                position: reader.v()?,
                root: reader.array()?,
                digest: reader.array()?,
                epoch: reader.v()?,
            }),
            38 => Self::Link(LinkNotice {
                act: Some(reader.u8()?)
                    .filter(|act| (1..=3).contains(act))
                    .ok_or(LogError::NotGenuine)?,
                top: NodeId(Uuid::from_bytes(reader.array()?)),
                listing: reader.v()?,
                hash: reader.array()?,
            }),
            39 => Self::Rejoin(Rejoin {
                history: reader.array()?,
                size: reader.v()?,
                root: reader.array()?,
            }),
            40 => Self::Joined(Joined {
                is_in: choice(reader, [0, 1])?,
                genesis: reader.array()?,
                size: reader.v()?,
                root: reader.array()?,
            }),
            41 => Self::Identity(IdentityChange {
                is_objection: choice(reader, [1, 2])?,
                old: reader.array()?,
                new: reader.array()?,
                signature: reader.array()?,
            }),
            other => return Err(LogError::UnsupportedFormat(u32::from(other))),
        })
    }
}

fn read_roster(reader: &mut Reader<'_>) -> Result<Roster> {
    let count = reader.count(16 + 32 + 1)?;
    let mut members: Vec<Member> = Vec::with_capacity(count);
    for _ in 0..count {
        members.push(Member {
            account: reader.account()?,
            identity: reader.array()?,
            role: Role::from_code(reader.u8()?)?,
        });
    }
    let boxes = reader.array()?;
    let (by, signature) = (reader.account()?, reader.array()?);
    let signed = match (by.0.is_nil(), signature == [0; 64]) {
        (true, true) => None,
        (false, false) => Some((by, signature)),
        (true, false) | (false, true) => return Err(LogError::NotGenuine),
    };
    Ok(Roster {
        members,
        boxes,
        signed,
    })
}

fn write_devices(list: &DeviceList, out: &mut Writer) -> Result<()> {
    let count = u8::try_from(list.devices.len())
        .map_err(|_| LogError::InvalidInput("an account has at most 255 devices"))?;
    out.raw(&list.identity)
        .v(list.counter)
        .raw(&*list.rsa)
        .raw(&*list.kem)
        .u8(count);
    for device in &list.devices {
        out.u32(device.number).raw(&device.key);
    }
    out.raw(&list.signature);
    Ok(())
}

fn read_devices(reader: &mut Reader<'_>) -> Result<DeviceList> {
    let (identity, counter) = (reader.array()?, reader.v()?);
    let (rsa, kem) = (Box::new(reader.array()?), Box::new(reader.array()?));
    let count = reader.u8()?;
    let mut devices: Vec<Device> = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let (number, key) = (reader.u32()?, reader.array()?);
        devices.push(Device { number, key });
    }
    Ok(DeviceList {
        identity,
        counter,
        rsa,
        kem,
        devices,
        signature: reader.array()?,
    })
}

/// Reads one of two codes; `true` stands for the second.
fn choice(reader: &mut Reader<'_>, codes: [u8; 2]) -> Result<bool> {
    let code = reader.u8()?;
    codes
        .iter()
        .position(|known| *known == code)
        .map(|place| place == 1)
        .ok_or(LogError::NotGenuine)
}

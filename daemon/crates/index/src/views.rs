//! Views of the space: the digests of all nodes as this device had them, and what other devices said that they have.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, id_from, to_signed, to_unsigned};
use cairn_model::DeviceId;
use rusqlite::Row;
use uuid::Uuid;

/// Own views that are kept: a device that was away for long may say what it saw then.
const KEPT: u32 = 256;

/// The view of another device, as it was compared last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherView {
    pub device: DeviceId,
    /// The device's name for people.
    pub name: String,
    /// The number of the latest change that it had seen.
    pub seq: u64,
    pub digest: [u8; 32],
    /// Milliseconds since 1970-01-01 UTC, by the other device's clock: when it last had the same view.
    pub same_ms: Option<i64>,
    /// Milliseconds since 1970-01-01 UTC: when it was found to have another one, unless a person has dismissed that.
    pub differs_ms: Option<i64>,
}

impl Db<'_> {
    /// Notes this device's view after a change.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_own_view(&self, seq: u64, digest: &[u8; 32]) -> Result<(), IndexError> {
        self.prepare("INSERT OR REPLACE INTO own_views (seq, digest) VALUES (?1, ?2)")?
            .execute((to_signed(seq), digest))?;
        self.prepare(
            "DELETE FROM own_views WHERE seq < (SELECT min(seq) FROM \
             (SELECT seq FROM own_views ORDER BY seq DESC LIMIT ?1))",
        )?
        .execute([KEPT])?;
        Ok(())
    }

    /// Returns this device's view after a change, if it was noted.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn own_view(&self, seq: u64) -> Result<Option<[u8; 32]>, IndexError> {
        let mut statement = self.prepare("SELECT digest FROM own_views WHERE seq = ?1")?;
        let mut rows = statement.query([to_signed(seq)])?;
        rows.next()?
            .map(|row| Ok(row.get::<_, [u8; 32]>(0)?))
            .transpose()
    }

    /// Forgets this device's views: the history of the service is another one.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_own_views(&self) -> Result<(), IndexError> {
        self.0.execute_batch("DELETE FROM own_views;")?;
        Ok(())
    }

    /// Returns the views of all other devices, in the order of their ids.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn other_views(&self) -> Result<Vec<OtherView>, IndexError> {
        let mut statement = self.prepare_whole(
            "SELECT device, name, seq, digest, same_at, differs_at FROM other_views ORDER BY device",
        )?;
        collect(&mut statement.query([])?, read)
    }

    /// Replaces the view of another device.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_other_view(&self, view: &OtherView) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR REPLACE INTO other_views (device, name, seq, digest, same_at, differs_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            view.device.as_bytes(),
            &view.name,
            to_signed(view.seq),
            view.digest,
            view.same_ms,
            view.differs_ms,
        ))?;
        Ok(())
    }

    /// Forgets that other devices have other views. Returns whether one had.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn dismiss_other_views(&self) -> Result<bool, IndexError> {
        let changed = self
            .prepare("UPDATE other_views SET differs_at = NULL WHERE differs_at IS NOT NULL")?
            .execute([])?;
        Ok(changed > 0)
    }
}

fn read(row: &Row<'_>) -> Result<OtherView, IndexError> {
    let device: Vec<u8> = row.get(0)?;
    Ok(OtherView {
        device: DeviceId(Uuid::from_bytes(id_from(&device)?)),
        name: row.get(1)?,
        seq: to_unsigned(row.get(2)?)?,
        digest: row.get(3)?,
        same_ms: row.get(4)?,
        differs_ms: row.get(5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Index;

    #[test]
    fn the_latest_own_views_are_kept() {
        let index = Index::memory().unwrap();
        let most = u64::from(KEPT) + 2;
        index
            .write(|db| {
                for seq in 1..=most {
                    db.put_own_view(seq, &[1; 32])?;
                }
                db.put_own_view(most, &[2; 32])
            })
            .unwrap();
        let found = |seq| index.read(|db| db.own_view(seq)).unwrap();
        assert_eq!(found(2), None);
        assert_eq!(found(3), Some([1; 32]));
        assert_eq!(found(most), Some([2; 32]));
        index.write(|db| db.clear_own_views()).unwrap();
        assert_eq!(found(most), None);
    }

    #[test]
    fn what_differs_stays_until_it_is_dismissed() {
        let index = Index::memory().unwrap();
        let view = OtherView {
            device: DeviceId::from_random_bytes([1; 16]),
            name: "laptop".into(),
            seq: 7,
            digest: [3; 32],
            same_ms: Some(5),
            differs_ms: Some(6),
        };
        index.write(|db| db.put_other_view(&view)).unwrap();
        let found = || index.read(|db| db.other_views()).unwrap();
        assert_eq!(found(), std::slice::from_ref(&view));
        assert!(index.write(|db| db.dismiss_other_views()).unwrap());
        assert!(!index.write(|db| db.dismiss_other_views()).unwrap());
        let kept = OtherView {
            differs_ms: None,
            ..view
        };
        assert_eq!(found(), [kept]);
    }
}

//! Damage of stored objects on purpose, as a disk does it, to try what becomes of it.

use super::Objects;
use crate::error::Result;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use serde::Deserialize;

/// A way in which an object is damaged on purpose, to try what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// The object is gone.
    Lost,
    /// Another object than before: one bit of the byte in its middle is flipped.
    Flipped,
}

impl Objects {
    /// Damages one object on purpose: the one of that number in the order of their names, counted round. Returns its
    /// name; `None` if there are none.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn damage(&self, number: usize, damage: Damage) -> Result<Option<String>> {
        let mut names: Vec<String> = self.sizes().await?.into_keys().collect();
        names.sort();
        if names.is_empty() {
            return Ok(None);
        }
        let name = names.swap_remove(number % names.len());
        let path = Path::from(name.as_str());
        match damage {
            Damage::Lost => self.store.delete(&path).await?,
            Damage::Flipped => {
                let mut bytes = self.store.get(&path).await?.bytes().await?.to_vec();
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 1;
                }
                self.store.put(&path, bytes.into()).await?;
            }
        }
        Ok(Some(name))
    }
}

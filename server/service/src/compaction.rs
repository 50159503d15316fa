//! Rewrites objects (stored blobs that hold chunks of files) of which most parts are unreferenced.

use crate::error::{Error, Result};
use crate::state::ServerState;
use cairn_store::{ObjectUse, Objects};

/// Objects of fewer bytes are left as they are.
const MIN_BYTES: u64 = 64 * 1024;
/// The largest object that is read into memory.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Rewrites each object of at least `least` bytes of which less than half is needed, and returns their
/// number. One that can't be rewritten is left as it is.
///
/// # Errors
/// A database or an object store that fails.
pub(crate) async fn compact(app: &ServerState, least: u64) -> Result<usize> {
    let sizes = app.objects.sizes().await?;
    let mut rewritten = 0;
    for object in app.store.object_uses()? {
        let Some(size) = sizes.get(&object.name) else {
            tracing::error!(name = object.name, "an object that chunks lie in is gone");
            continue;
        };
        if *size < least || *size > MAX_BYTES || object.needed.saturating_mul(2) >= *size {
            continue;
        }
        match rewrite(app, &object).await {
            Ok(()) => rewritten += 1,
            Err(error) => tracing::warn!(%error, name = object.name, "can't rewrite an object"),
        }
    }
    Ok(rewritten)
}

/// Compacts as [`compact`] does, objects that are worth it.
pub(crate) async fn compact_large(app: &ServerState) -> Result<usize> {
    compact(app, MIN_BYTES).await
}

/// Writes the needed chunks of an object into a new one, reads that again, and records it as their place.
async fn rewrite(app: &ServerState, object: &ObjectUse) -> Result<()> {
    let parts = app.store.parts_of(object)?;
    let places: Vec<_> = parts.iter().map(|part| part.place.extent()).collect();
    let bytes = app.objects.get_many(&places).await?;
    let name = Objects::fresh_name(&app.source);
    app.objects.put(&name, bytes.clone()).await?;
    app.objects.persist(&name).await?;
    let whole = bytes.concat();
    let written = app.objects.get(&name, 0..whole.len() as u64).await?;
    if written != whole {
        app.objects.delete(&[name]).await;
        return Err(Error::internal(
            "a new object does not hold what was written",
        ));
    }
    match app.store.move_parts(object, &parts, &name) {
        Ok(unused) => {
            app.objects.delete(unused.as_slice()).await;
            Ok(())
        }
        Err(error) => {
            app.objects.delete(&[name]).await;
            Err(error.into())
        }
    }
}

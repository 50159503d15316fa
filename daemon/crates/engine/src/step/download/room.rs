//! Free disk space for downloads.

use super::PreparedDownload;
use crate::error::EngineError;
use crate::step::Ctx;
use crate::trash;
use std::io;
use std::sync::Arc;

/// Checks that there is space for a file. If deleting the oldest items of the local trash is enough for that, it
/// deletes them.
pub(super) async fn make_room(ctx: &Ctx, ready: &PreparedDownload) -> Result<(), EngineError> {
    let ports = &ctx.engine.ports;
    let size = ready.remote.size;
    let mut room = ports.disk.free_space(ctx.root())?;
    if room < size {
        let (disk, root) = (Arc::clone(&ports.disk), ctx.root().to_owned());
        let now_ms = ports.clock.now_ms();
        let _disk_lock = ctx.engine.disk_lock.lock().await;
        room = ports
            .run_blocking(move || -> io::Result<u64> {
                let room = disk.free_space(&root)?;
                if room < size && trash::make_room(&*disk, &root, size - room, now_ms)? {
                    return disk.free_space(&root);
                }
                Ok(room)
            })
            .await?;
    }
    if room >= size {
        return Ok(());
    }
    Err(EngineError::Disk(io::Error::new(
        io::ErrorKind::StorageFull,
        format!("{} needs {size} bytes, {room} are free", ready.path),
    )))
}

// Where a file lies that a file manager asks about.
import type { FolderView } from "../bindings";

/** The synced folder that an absolute path is in, and the path below it; null if it is in none. */
export function placeOf(
  path: string,
  folders: readonly Pick<FolderView, "local">[],
): { folder: string; path: string } | null {
  const around = folders
    .map((one) => one.local)
    .filter((local) => path === local || path.startsWith(local.endsWith("/") ? local : `${local}/`));
  // Folders never lie in one another: at most one is left.
  const [folder] = around;
  if (folder === undefined) return null;
  return { folder, path: path.slice(folder.length).replace(/^\//, "") };
}

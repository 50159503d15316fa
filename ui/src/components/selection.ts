// The selection of subfolders: a selected folder includes all below it, so none below it is listed.

export type Mark = "all" | "some" | "none";

export function below(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

export function mark(chosen: readonly string[], path: string): Mark {
  if (chosen.some((top) => below(path, top))) {
    return "all";
  }
  return chosen.some((deep) => below(deep, path)) ? "some" : "none";
}

/**
 * Selects a folder, or unselects it. `siblings` gives the folders beside a path, as far as they are known:
 * giving up one of many means choosing the others.
 */
export function toggle(
  chosen: readonly string[],
  path: string,
  siblings: (path: string) => readonly string[],
): string[] {
  if (mark(chosen, path) !== "all") {
    return [...chosen.filter((deep) => !below(deep, path)), path];
  }
  const rest: string[] = chosen.filter((top) => !below(path, top));
  // Up to the chosen folder above, everything beside the way stays chosen.
  let at = path;
  while (!chosen.includes(at)) {
    rest.push(...siblings(at).filter((other) => other !== at));
    at = at.slice(0, at.lastIndexOf("/"));
  }
  return rest;
}

/** A folder on the server, by its path below the root of the tree. */
export interface Entry {
  name: string;
  path: string;
  /** All files below it; absent where the server doesn't say it. */
  bytes?: number | undefined;
}

/** The folders in each folder that is known, by its path; the root is "". */
export type Levels = Record<string, readonly Entry[]>;

/** The folder that a path is in. */
export function levelOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

export function entryOf(path: string, known: Levels): Entry | undefined {
  return known[levelOf(path)]?.find((entry) => entry.path === path);
}

/** The folders above the chosen ones, those further up first, each once. */
export function foldersAbove(chosen: readonly string[]): string[] {
  const above = new Set<string>();
  for (const path of chosen) {
    for (let at = levelOf(path); at !== ""; at = levelOf(at)) above.add(at);
  }
  return [...above].sort((one, other) => one.split("/").length - other.split("/").length);
}

/** The bytes of everything in the tree; null if the server doesn't say them all. */
export function totalBytes(known: Levels): number | null {
  return sum((known[""] ?? []).map((entry) => entry.bytes ?? null));
}

/** The bytes of the chosen folders together; null while one of them is not known. */
export function chosenBytes(chosen: readonly string[], known: Levels): number | null {
  return sum(chosen.map((path) => bytesOf(path, known)));
}

function bytesOf(path: string, known: Levels): number | null {
  const above = levelOf(path);
  const level = known[above];
  if (level) {
    const entry = level.find((one) => one.path === path);
    // It is gone from the server.
    if (!entry) return 0;
    return entry.bytes ?? null;
  }
  // So is what is in a folder that is gone.
  return above !== "" && bytesOf(above, known) === 0 ? 0 : null;
}

function sum(all: readonly (number | null)[]): number | null {
  return all.reduce((one, other) => (one === null || other === null ? null : one + other), 0);
}

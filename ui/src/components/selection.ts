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

// A local folder as a person types it.

/** A path that says by itself where it begins; `~` is the home. */
export function isWhole(path: string): boolean {
  return /^(~?\/|~$|[A-Za-z]:[\\/])/.test(path.trim());
}

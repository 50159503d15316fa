// The folder on the service that is proposed for a local one.

/** A folder of the same name; never the whole account. */
export function proposal(local: string): string {
  const name = local.replace(/\/+$/, "").split("/").pop()?.trim() ?? "";
  return name === "" ? "" : `/${name}`;
}

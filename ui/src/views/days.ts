// The activity list with a heading for each day.
import type { ActivityView } from "../bindings";

export type Item = { readonly day: string } | { readonly entry: ActivityView };

/** `dayOf` formats the day of a time; entries of one day follow one another. */
export function withDays(rows: readonly ActivityView[], dayOf: (at: string) => string): Item[] {
  const items: Item[] = [];
  let last: string | undefined;
  for (const entry of rows) {
    const day = dayOf(entry.at);
    if (day !== last) {
      items.push({ day });
      last = day;
    }
    items.push({ entry });
  }
  return items;
}

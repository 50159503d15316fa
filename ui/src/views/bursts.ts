// What happened, with a heading for each day, and one row for many events of one kind.

/** The part of an event by which it is grouped. */
export interface ActivityEvent {
  readonly at: string;
  readonly kind: string;
  /** With `/`; the folder is everything before the last one. */
  readonly path: string;
  /** The synced folder. */
  readonly folder?: string;
  readonly device?: string;
}

export interface Burst<E> {
  /** The newest first. */
  readonly entries: readonly E[];
  /** The folder that they have in common; empty: only the synced folder. */
  readonly place: string;
  /** Stays the same when newer events join. */
  readonly key: string;
}

export type Item<E> =
  | { readonly day: string }
  | { readonly entry: E; readonly inside: boolean }
  | { readonly burst: Burst<E>; readonly open: boolean };

/** Fewer events stand for themselves. */
export const FEWEST = 5;
/** Events further apart, in milliseconds, are no burst. */
const GAP_MS = 5 * 60_000;

/**
 * Puts events, the newest first, into rows. `dayOf` formats the day of a time; `open` has the keys of the
 * bursts whose entries are wanted too.
 */
export function group<E extends ActivityEvent>(
  events: readonly E[],
  dayOf: (at: string) => string,
  open: ReadonlySet<string>,
): Item<E>[] {
  const items: Item<E>[] = [];
  let day: string | undefined;
  for (const run of runs(events, dayOf)) {
    if (run.day !== day) {
      day = run.day;
      items.push({ day });
    }
    if (run.entries.length < FEWEST) {
      items.push(...run.entries.map((entry) => ({ entry, inside: false })));
      continue;
    }
    const burst = burstOf(run.entries);
    const isOpen = open.has(burst.key);
    items.push({ burst, open: isOpen });
    if (isOpen) {
      items.push(...burst.entries.map((entry) => ({ entry, inside: true })));
    }
  }
  return items;
}

/** All events as bursts, also single ones, each with its day. */
export function timeline<E extends ActivityEvent>(
  events: readonly E[],
  dayOf: (at: string) => string,
): { day: string; bursts: Burst<E>[] }[] {
  const days: { day: string; bursts: Burst<E>[] }[] = [];
  for (const run of runs(events, dayOf)) {
    let last = days.at(-1);
    if (last?.day !== run.day) {
      last = { day: run.day, bursts: [] };
      days.push(last);
    }
    last.bursts.push(burstOf(run.entries));
  }
  return days;
}

interface Run<E> {
  day: string;
  entries: E[];
}

function runs<E extends ActivityEvent>(events: readonly E[], dayOf: (at: string) => string): Run<E>[] {
  const found: Run<E>[] = [];
  const days = new Map<string, string>();
  for (const event of events) {
    const day = dayIn(days, event.at, dayOf);
    const last = found.at(-1);
    const before = last?.entries.at(-1);
    if (last && before && last.day === day && belong(before, event)) {
      last.entries.push(event);
    } else {
      found.push({ day, entries: [event] });
    }
  }
  return found;
}

/** Formatting is slow: once for each minute. */
function dayIn(days: Map<string, string>, at: string, dayOf: (at: string) => string): string {
  const minute = at.slice(0, "2026-01-02T03:04".length);
  let day = days.get(minute);
  if (day === undefined) {
    day = dayOf(at);
    days.set(minute, day);
  }
  return day;
}

function belong(newer: ActivityEvent, older: ActivityEvent): boolean {
  return (
    newer.kind === older.kind &&
    newer.folder === older.folder &&
    newer.device === older.device &&
    Date.parse(newer.at) - Date.parse(older.at) <= GAP_MS
  );
}

function burstOf<E extends ActivityEvent>(entries: readonly E[]): Burst<E> {
  const oldest = entries.at(-1);
  return { entries, place: place(entries), key: `${oldest?.at}\n${oldest?.kind}\n${oldest?.path}` };
}

/** The innermost folder that all of them are in. */
function place(entries: readonly ActivityEvent[]): string {
  let common: string[] | undefined;
  for (const entry of entries) {
    const parts = entry.path.split("/").slice(0, -1);
    if (common === undefined) {
      common = parts;
      continue;
    }
    const differs = common.findIndex((part, at) => part !== parts[at]);
    if (differs >= 0) common = common.slice(0, differs);
  }
  return (common ?? []).join("/");
}

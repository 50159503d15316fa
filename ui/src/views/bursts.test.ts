import { expect, test } from "vitest";
import { type ActivityEvent, group, type Item, timeline } from "./bursts";

const dayOf = (at: string) => at.slice(0, 10);
const event = (at: string, path: string, kind = "downloaded"): ActivityEvent => ({
  at,
  kind,
  path,
  folder: "/f",
});
const minute = (n: number) => `2026-03-04T10:${String(50 - n).padStart(2, "0")}:00Z`;
const many = (count: number, path: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => event(minute(n), path(n)));

function words(items: Item<ActivityEvent>[]): string[] {
  return items.map((item) => {
    if ("day" in item) return item.day;
    if ("burst" in item) return `${item.burst.entries.length} in ${item.burst.place}`;
    return (item.inside ? "> " : "") + item.entry.path;
  });
}

test("each day has one heading above its entries", () => {
  const rows = [
    event("2026-03-04T10:00:00Z", "a"),
    event("2026-03-04T09:00:00Z", "b"),
    event("2026-03-02T23:00:00Z", "c"),
  ];
  expect(words(group(rows, dayOf, new Set()))).toEqual(["2026-03-04", "a", "b", "2026-03-02", "c"]);
  expect(group([], dayOf, new Set())).toEqual([]);
});

test("many events of one kind are one row, which opens", () => {
  const rows = [
    ...many(6, (n) => `Photos/2026/${n % 2}/${n}.jpg`),
    event("2026-03-04T10:00:00Z", "x", "deleted"),
  ];
  const closed = group(rows, dayOf, new Set());
  expect(words(closed)).toEqual(["2026-03-04", "6 in Photos/2026", "x"]);
  const burst = closed.find((item) => "burst" in item);
  const key = burst && "burst" in burst ? burst.burst.key : "";
  const open = words(group([event(minute(-1), "Photos/new.jpg"), ...rows], dayOf, new Set([key])));
  expect(open.slice(0, 3)).toEqual(["2026-03-04", "7 in Photos", "> Photos/new.jpg"]);
  expect(open).toHaveLength(10);
});

test("few events, other devices and long breaks are no burst", () => {
  expect(
    words(
      group(
        many(4, (n) => `${n}`),
        dayOf,
        new Set(),
      ),
    ),
  ).toHaveLength(5);
  const two = many(6, (n) => `${n}`).map((row, n) => ({ ...row, device: n < 3 ? "desk" : "laptop" }));
  expect(words(group(two, dayOf, new Set()))).toHaveLength(7);
  const slow = Array.from({ length: 6 }, (_, n) => event(`2026-03-04T${String(20 - n)}:00:00Z`, `${n}`));
  expect(words(group(slow, dayOf, new Set()))).toHaveLength(7);
});

test("a timeline has single events as bursts of one", () => {
  const days = timeline([...many(2, (n) => `/a/${n}`), event("2026-03-02T10:00:00Z", "/b")], dayOf);
  expect(
    days.map((day) => [day.day, day.bursts.map((burst) => [burst.entries.length, burst.place])]),
  ).toEqual([
    ["2026-03-04", [[2, "/a"]]],
    ["2026-03-02", [[1, ""]]],
  ]);
});

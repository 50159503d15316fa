import { expect, test } from "vitest";
import type { ActivityView } from "../bindings";
import { withDays } from "./days";

const row = (at: string): ActivityView => ({ at, kind: "uploaded", path: at, bytes: 1 });

test("each day has one heading above its entries", () => {
  const rows = [row("2026-03-04T10:00"), row("2026-03-04T09:00"), row("2026-03-02T23:00")];
  const items = withDays(rows, (at) => at.slice(0, 10));
  expect(items.map((item) => ("day" in item ? item.day : item.entry.at))).toEqual([
    "2026-03-04",
    "2026-03-04T10:00",
    "2026-03-04T09:00",
    "2026-03-02",
    "2026-03-02T23:00",
  ]);
  expect(withDays([], () => "")).toEqual([]);
});

import { expect, test } from "vitest";
import { chosenBytes, foldersAbove, type Levels, mark, toggle, totalBytes } from "./selection";

const tree: Record<string, string[]> = {
  "": ["photos", "work"],
  photos: ["photos/2025", "photos/2026"],
  "photos/2026": ["photos/2026/may", "photos/2026/june"],
};
const siblings = (path: string) => tree[path.slice(0, Math.max(path.lastIndexOf("/"), 0))] ?? [];

test("a folder is whole, partly or not chosen", () => {
  expect(mark(["photos"], "photos/2026")).toBe("all");
  expect(mark(["photos/2026"], "photos")).toBe("some");
  expect(mark(["photos"], "photos2")).toBe("none");
});

test("choosing a folder takes in what was chosen below it", () => {
  expect(toggle(["photos/2026", "work"], "photos", siblings)).toEqual(["work", "photos"]);
});

test("giving up one folder of a chosen one keeps the others, at every depth", () => {
  expect(toggle(["photos", "work"], "photos/2026/may", siblings)).toEqual([
    "work",
    "photos/2026/june",
    "photos/2025",
  ]);
  expect(toggle(["photos"], "photos", siblings)).toEqual([]);
});

const entry = (path: string, bytes?: number) => ({ path, bytes, name: path.split("/").pop() ?? "" });
const sized: Levels = {
  "": [entry("photos", 30), entry("work", 10)],
  photos: [entry("photos/2025", 18), entry("photos/2026", 12)],
};

test("the sizes of chosen folders are added up at every depth", () => {
  expect(totalBytes(sized)).toBe(40);
  expect(chosenBytes(["photos/2026", "work"], sized)).toBe(22);
  expect(chosenBytes([], sized)).toBe(0);
});

test("a folder that is gone has no size, and one that is not fetched yet makes the sum unknown", () => {
  expect(chosenBytes(["gone", "gone/deep", "photos/2024"], sized)).toBe(0);
  expect(chosenBytes(["work/plans"], sized)).toBeNull();
});

test("a server without sizes gives no sums", () => {
  const older: Levels = { "": [entry("photos"), entry("work", 10)] };
  expect(totalBytes(older)).toBeNull();
  expect(chosenBytes(["photos"], older)).toBeNull();
  expect(totalBytes({})).toBe(0);
});

test("what is above the chosen folders is opened from the top down", () => {
  expect(foldersAbove(["photos/2026/may", "photos/2025", "work"])).toEqual(["photos", "photos/2026"]);
});

import { expect, test } from "vitest";
import { mark, toggle } from "./selection";

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

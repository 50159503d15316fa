import { expect, test } from "vitest";
import { placeOf } from "./asked";

test("a path is in the folder whose whole name it begins with", () => {
  const folders = [{ local: "/home/ada/Cairn" }, { local: "/srv/data" }];
  expect(placeOf("/home/ada/Cairn/a/b.txt", folders)).toEqual({ folder: "/home/ada/Cairn", path: "a/b.txt" });
  expect(placeOf("/srv/data", folders)).toEqual({ folder: "/srv/data", path: "" });
  expect(placeOf("/home/ada/Cairn2/a", folders)).toBe(null);
  expect(placeOf("/a", [{ local: "/" }])).toEqual({ folder: "/", path: "a" });
});

import { expect, test } from "vitest";
import { slice } from "./virtual";

test("only what is seen is drawn, also at the ends", () => {
  expect(slice(0, 440, 44, 100_000)).toEqual({ from: 0, to: 18 });
  expect(slice(44 * 50_000, 440, 44, 100_000)).toEqual({ from: 49_992, to: 50_018 });
  expect(slice(44 * 99_990, 440, 44, 100_000).to).toBe(100_000);
});

test("a list that has become shorter than where it was scrolled draws nothing wrong", () => {
  expect(slice(44_000, 440, 44, 3)).toEqual({ from: 3, to: 3 });
  expect(slice(-20, 0, 44, 0)).toEqual({ from: 0, to: 0 });
});

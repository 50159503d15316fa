import { expect, test } from "vitest";
import { groups, pickTwo, sameGroup } from "./recovery";
import { strength } from "./strength";

test("short, common and repetitive passphrases are weak", () => {
  for (const weak of ["", "short", "password", "aaaaaaaaaaaaaaaaaaaa", "abcdefghijklmnop"]) {
    expect(strength(weak), weak).toBeLessThanOrEqual(1);
  }
});

test("more words are stronger", () => {
  expect(strength("correct horse battery staple")).toBe(4);
  expect(strength("Tr0ub4dor&3")).toBeGreaterThanOrEqual(1);
  expect(strength("kettle drum")).toBeLessThan(strength("kettle drum violin otter"));
});

test("a key is checked by two different groups, however they are typed", () => {
  const key = "ABCD-EFGH-JKLM-NPQR";
  expect(groups(key)).toEqual(["ABCD", "EFGH", "JKLM", "NPQR"]);
  for (const random of [0, 0.3, 0.999]) {
    const [a, b] = pickTwo(4, () => random);
    expect(a).toBeLessThan(b);
    expect(b).toBeLessThan(4);
  }
  expect(sameGroup(" efgh ", "EFGH")).toBe(true);
  expect(sameGroup("EFGG", "EFGH")).toBe(false);
});

import { expect, test } from "vitest";
import { isWhole } from "./local";

test("a typed folder has to say where it begins", () => {
  for (const path of ["/home/ada/Notes", " ~/Notes", "~", "C:\\Users\\ada", "/"]) {
    expect(isWhole(path), path).toBe(true);
  }
  for (const path of ["", "Notes", "./Notes", "../Notes", "~ada/Notes"]) {
    expect(isWhole(path), path).toBe(false);
  }
});

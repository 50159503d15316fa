import { expect, test } from "vitest";
import { proposal } from "./remote";

test("a folder of the same name is proposed, never the whole account", () => {
  expect(proposal("/home/ada/Pictures")).toBe("/Pictures");
  expect(proposal("/home/ada/My Notes/")).toBe("/My Notes");
  expect(proposal("")).toBe("");
  expect(proposal("/")).toBe("");
});

import { expect, test } from "vitest";
import { iconOf } from "./icons";

test("a file's picture goes by the end of its name", () => {
  expect(iconOf("Photos/2026/a.b.JPG")).toBe("image");
  expect(iconOf("main.rs")).toBe("code");
  expect(iconOf("/reports/annual report.pdf")).toBe("text");
  expect(iconOf("Makefile")).toBe("file");
  expect(iconOf(".png")).toBe("file");
  expect(iconOf("photos.jpg/readme")).toBe("file");
});

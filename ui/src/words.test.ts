import { expect, test } from "vitest";
import { pickLanguage, words } from "./words";

const en = words("en", () => new Date("2026-03-04T12:00:00"));
const de = words("de", () => new Date("2026-03-04T12:00:00"));

test("texts are filled in and counted", () => {
  expect(en.text("setup.step", { n: 2 })).toBe("Step 2 of 4");
  expect(en.count("overview.files", 1)).toBe("1 file");
  expect(de.count("overview.files", 1234)).toBe("1.234 Dateien");
  expect(en.maybe("activity.kind.no-such")).toBe("");
});

test("a value that looks like a slot is not filled again", () => {
  expect(en.text("versions.title", { name: "{name}" })).toBe("Versions of {name}");
});

test("figures follow the language", () => {
  expect(en.size(4_200_000)).toBe("4.2 MB");
  expect(de.size(4_200_000)).toBe("4,2 MB");
  expect(en.size(999_600)).toBe("1.0 MB");
  expect(en.size(0)).toBe("0 B");
  expect(en.span(90)).toBe("2 min");
});

test("today is told by the time alone, and nonsense by nothing", () => {
  expect(en.moment("2026-03-04T09:05:00")).toMatch(/^9:05/);
  expect(de.moment("2026-03-01T09:05:00")).toContain("2026");
  expect(en.moment("yesterday")).toBe("");
});

test("the system's language is taken where there is a catalogue", () => {
  expect(pickLanguage("de-AT")).toBe("de");
  expect(pickLanguage("fr")).toBe("en");
});

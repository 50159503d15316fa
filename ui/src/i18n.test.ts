import { expect, test } from "vitest";
import sizes from "../../tests/vectors/sizes.json";
import { createI18n, pickLanguage } from "./i18n";

const en = createI18n("en", () => new Date("2026-03-04T12:00:00"));
const de = createI18n("de", () => new Date("2026-03-04T12:00:00"));

test("texts are filled in and counted", () => {
  expect(en.t("setup.step", { n: 2 })).toBe("Step 2 of 4");
  expect(en.plural("overview.files", 1)).toBe("1 file");
  expect(de.plural("overview.files", 1234)).toBe("1.234 Dateien");
  expect(en.tOptional("activity.kind.no-such")).toBe("");
});

test("a value that looks like a slot is not filled again", () => {
  expect(en.t("versions.title", { name: "{name}" })).toBe("Versions of {name}");
});

test("figures follow the language", () => {
  expect(de.formatSize(4_200_000)).toBe("4,0 MiB");
  expect(en.formatDuration(90)).toBe("2 min");
});

test("sizes are those of the command line", () => {
  for (const [bytes, text] of sizes) {
    expect(en.formatSize(Number(bytes))).toBe(text);
  }
});

test("today is shown as the time alone, and an invalid time as nothing", () => {
  expect(en.formatTime("2026-03-04T09:05:00")).toMatch(/^9:05/);
  expect(de.formatTime("2026-03-01T09:05:00")).toContain("2026");
  expect(en.formatTime("yesterday")).toBe("");
});

test("the system's language is used if there is a catalogue", () => {
  expect(pickLanguage("de-AT")).toBe("de");
  expect(pickLanguage("fr")).toBe("en");
});

test("days are named by how long ago they are", () => {
  expect(en.formatDay("2026-03-04T00:05:00")).toBe("Today");
  expect(de.formatDay("2026-03-03T23:55:00")).toBe("Gestern");
  expect(en.formatDay("2026-03-01T09:05:00")).toBe("Sunday, March 1, 2026");
  expect(en.formatClock("2026-03-01T09:05:00")).toMatch(/^9:05/);
});

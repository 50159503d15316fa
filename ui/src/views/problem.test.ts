import { expect, test } from "vitest";
import type { ProblemCause } from "../bindings";
import { createI18n, type I18n } from "../i18n";
import { IS_COUNTED, type ProblemReport, problemWords } from "./problem";

const en = createI18n("en");
const de = createI18n("de");
const problem = (change: Partial<ProblemReport>): ProblemReport => ({
  code: "disk",
  cause: "disk",
  values: {},
  count: 1,
  bytes: 0,
  message: "the daemon says",
  hint: "and advises",
  ...change,
});
const VALUES = {
  name: "a.txt",
  team: "Crew",
  who: "ada",
  fingerprint: "1234 5678",
  at: "2026-03-01",
  command: "cairn x",
};

/** The keys of a cause that have no text, or one in which a value is left out. */
function gaps(cause: ProblemCause, i18n: I18n): string[] {
  const forms = IS_COUNTED[cause] ? [`${cause}.one`, `${cause}.other`] : [cause];
  const keys = [...forms, `${cause}.hint`].map((key) => `problem.${key}`);
  const whole = (key: string) => i18n.tOptional(key, { ...VALUES, n: 2 });
  return keys.filter((key) => whole(key) === "" || whole(key).includes("{"));
}

test("each cause has its texts in both languages", () => {
  const causes = (Object.keys(IS_COUNTED) as ProblemCause[]).filter((cause) => cause !== "other");
  expect(causes.length).toBeGreaterThan(50);
  for (const i18n of [en, de]) {
    for (const cause of causes) {
      expect(gaps(cause, i18n)).toEqual([]);
      const words = problemWords(problem({ cause, values: VALUES }), i18n);
      expect(words.text, cause).not.toContain("problem.");
      expect(words.text + words.hint, cause).not.toContain("the daemon says");
    }
  }
});

test("many are counted, and one is named", () => {
  const unreadable = problem({ cause: "unreadable", count: 29_600 });
  expect(problemWords(unreadable, de).text).toBe(
    "Dein Benutzer darf 29.600 Dateien und Ordner nicht lesen oder schreiben.",
  );
  const clash = problem({ cause: "name_reads_same", values: { name: "Ä.txt" } });
  expect(problemWords(clash, de).text).toContain("liest sich wie „Ä.txt“ daneben");
});

test("a full disk says how much room is missing, where that is known", () => {
  const full = problem({
    code: "disk_full",
    cause: "disk_full",
    count: 3,
    bytes: 5 << 20,
    values: { free: 1 << 20 },
  });
  expect(problemWords(full, de).hint).toMatch(
    /^5,0 MiB nötig, 1,0 MiB frei: Es fehlen 4,0 MiB\. Schaff Platz/,
  );
  expect(problemWords({ ...full, values: {} }, de).hint).toMatch(/^Schaff Platz/);
  expect(problemWords({ ...full, values: { free: 5 << 20 } }, de).hint).toMatch(/^Schaff Platz/);
});

test("what the system said is a detail, and the daemon's sentence is none", () => {
  const disk = problem({ values: { detail: "os error 5" } });
  expect(problemWords(disk, de).detail).toBe("os error 5");
  expect(problemWords(problem({}), de).detail).toBe("");
});

test("a daemon without causes is understood by its codes, and one that is newer by its words", () => {
  const older = problemWords(problem({ cause: "other" }), de);
  expect([older.text, older.detail]).toEqual(["Der Datenträger meldet einen Fehler.", "the daemon says"]);
  const newer = problemWords(problem({ code: "other", cause: "other" }), de);
  expect(newer.detail).toBe("the daemon says – and advises");
  expect(newer.text).toContain("Cairn meldet dazu");
});

test("a text whose value is missing gives way to the daemon's words", () => {
  const clash = problemWords(problem({ code: "key_to_accept", cause: "other" }), de);
  expect(clash).toEqual({
    text: "Etwas wird nicht synchronisiert. Cairn meldet dazu:",
    hint: "",
    detail: "the daemon says – and advises",
  });
});

test("who replaced the keys is said where it is known", () => {
  const keys = problem({ code: "keys_replaced", cause: "keys_replaced" });
  expect(problemWords(keys, de).text).toContain("auf einem anderen Gerät ersetzt");
  const known = { ...keys, values: { who: "desk", at: "2026-03-01T10:00:00Z" } };
  expect(problemWords(known, de).text).toContain("desk hat die Schlüssel deines Kontos ersetzt (");
});

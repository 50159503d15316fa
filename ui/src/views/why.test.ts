import { expect, test } from "vitest";
import type { WhyView } from "../bindings";
import { createI18n } from "../i18n";
import { problemWords } from "./problem";
import { details, markOf, pageFor, problemOf, reasonText } from "./why";

const en = createI18n("en");
const de = createI18n("de");
const report = (change: Partial<WhyView>): WhyView => ({
  path: "a.txt",
  state: "waiting",
  reason: "differs",
  cause: "other",
  values: {},
  message: "it waits",
  hint: "",
  tries: 0,
  behind: 0,
  problems_below: 0,
  ...change,
});

test("a rule is named with its line, if that is known", () => {
  const rule = report({ state: "ignored", reason: "rule", rule: "*.log", rule_file: "a/.cairnignore" });
  expect(reasonText({ ...rule, rule_line: 3 }, en)).toBe(
    "The rule “*.log” in line 3 of a/.cairnignore ignores it.",
  );
  expect(reasonText(rule, de)).toBe("Die Regel „*.log“ in a/.cairnignore ignoriert es.");
});

test("failed tries are counted, and what failed is said once, in the language of the window", () => {
  const failed = report({
    state: "parked",
    reason: "failed",
    cause: "quota",
    values: { detail: "the storage is full" },
    tries: 3,
    message: "3 tries failed: a quota on the service is used up",
    hint: "get more",
  });
  expect(reasonText(failed, de)).toBe("3 Versuche nacheinander sind fehlgeschlagen.");
  expect(details(failed)).toEqual([]);
  const problem = problemOf(failed);
  expect(problem && problemWords(problem, de)).toEqual({
    text: "Ein Kontingent auf dem Server ist aufgebraucht, deshalb lässt es sich nicht hochladen.",
    hint: expect.stringContaining("leere den Papierkorb"),
    detail: "the storage is full",
  });
  expect(reasonText({ ...failed, tries: 0 }, en)).toBe("It can’t be synced.");
});

test("the daemon's own words stand for a failure that has no word, without the number of tries", () => {
  const older = report({
    reason: "failed",
    tries: 3,
    message: "3 tries failed: it is full",
    hint: "free some",
  });
  const problem = problemOf(older);
  expect(problem && problemWords(problem, de)).toEqual({
    text: "Etwas wird nicht synchronisiert. Cairn meldet dazu:",
    hint: "",
    detail: "it is full – free some",
  });
});

test("a reason that this version doesn't know is said in the daemon's words", () => {
  const unknown = report({ state: "other", reason: "other", message: "it sleeps" });
  expect(details(unknown)).toEqual(["it sleeps"]);
  expect(details(report({}))).toEqual([]);
  const offline = report({
    reason: "offline",
    cause: "offline",
    values: { detail: "no route" },
    hint: "wait",
  });
  expect(details(offline)).toEqual(["no route"]);
  expect(problemOf(offline)).toBeUndefined();
});

test("a pause looks like one, and what is left out on purpose like nothing wrong", () => {
  expect(markOf(report({ reason: "paused" }))).toBe("paused");
  expect(markOf(report({ state: "ignored", reason: "rule" }))).toBe("none");
  expect(markOf(report({ state: "parked", reason: "failed" }))).toBe("attention");
});

test("what a person decides is on the page for that", () => {
  expect(pageFor("deletion_held")).toBe("attention");
  expect(pageFor("rule")).toBeUndefined();
});

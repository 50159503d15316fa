// Why a file is synced, or not: asked from the lists and from a folder's page, answered in both languages.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { calls, findings, world } from "./page.mjs";

let here;
before(async () => {
  here = await world();
});
after(() => here.close());
afterEach(() => here.closePages());

const button = (page, name) => page.getByRole("button", { name, exact: true });

for (const [lang, opener, answer, hint] of [
  [
    "en",
    "Why?: src/main.rs",
    "The rule “*.rs” in line 3 of src/.cairnignore ignores it.",
    "Change that line",
  ],
  [
    "de",
    "Warum?: src/main.rs",
    "Die Regel „*.rs“ in Zeile 3 von src/.cairnignore ignoriert es.",
    "Ändere diese Zeile",
  ],
]) {
  test(`a file of the activity says which rule leaves it out, ${lang}`, async () => {
    const page = await here.open({ at: "activity", lang });
    await button(page, opener).first().focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText(answer).waitFor();
    await dialog.getByText(hint).waitFor();
    assert.deepEqual(await calls(page, "why"), [
      { op: "why", folder: "/home/ada/Cairn", path: "src/main.rs" },
    ]);
    assert.deepEqual(await findings(page), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });
}

test("a file that failed says how often, why, and when it is tried again", async () => {
  const page = await here.open({ scene: "attention", at: "attention", scheme: "dark" });
  await button(page, "Why?: private/key.pem").click();
  const dialog = page.getByRole("dialog", { name: "Sync state of key.pem" });
  await dialog.getByText("3 tries in a row failed.").waitFor();
  await dialog.getByText("The disk reports an error.").waitFor();
  await dialog.getByText("Input/output error (os error 5)").waitFor();
  await dialog.getByText("1,240 changes to sync").waitFor();
  assert.match(await dialog.locator("dl").textContent(), /Next try\s*Mar 4, 2026|Next try\s*4 Mar 2026/);
  assert.deepEqual(await findings(page), []);
});

test("what failed is said in German, with the word of the system as a detail", async () => {
  const page = await here.open({ scene: "attention", at: "attention", lang: "de" });
  await button(page, "Warum?: private/key.pem").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("3 Versuche nacheinander sind fehlgeschlagen.").waitFor();
  await dialog.getByText("Der Datenträger meldet einen Fehler.").waitFor();
  await dialog.getByText("Prüfe den Datenträger.").waitFor();
  const english = await dialog.locator("[lang=en]").allTextContents();
  assert.deepEqual(english, ["Input/output error (os error 5)"]);
  assert.deepEqual(await findings(page), []);
});

test("the problems of a folder are said in German, counted and with their values", async () => {
  const page = await here.open({ scene: "attention", at: "attention", lang: "de" });
  for (const text of [
    "Dein Benutzer darf 29.600 Dateien und Ordner nicht lesen oder schreiben.",
    "Für diesen Datenträger sind sein Name und „aux.txt“ derselbe, und den gibt es schon.",
    "Auf diesem Datenträger ist kein Platz für 120 Dateien.",
    "3,5 GiB nötig, 1,5 GiB frei: Es fehlen 2,0 GiB.",
  ]) {
    await page.getByText(text).waitFor();
  }
  assert.equal(await page.locator("[lang=en]").count(), 0, "no sentence of the daemon is left");
  assert.deepEqual(await findings(page), []);

  const replaced = await here.open({ scene: "replaced", at: "attention", lang: "de" });
  await replaced.getByText("desk hat die Schlüssel deines Kontos ersetzt (").waitFor();
  await replaced.getByText("Gib die Passphrase ein, um sie zu übernehmen.").waitFor();
});

test("a conflict leads to the page where it is resolved", async () => {
  const page = await here.open({ at: "activity" });
  await button(page, "Why?: notes/plan.md").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The other version is notes/plan (conflicted copy").waitFor();
  await button(dialog, "Review…").click();
  await page.getByRole("heading", { name: "Attention", exact: true }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
});

test("a conflict of the attention page has its answer there, too", async () => {
  const page = await here.open({ scene: "attention", at: "attention" });
  await button(page, "Why?: notes/plan.md").click();
  await page.getByRole("dialog").getByText("It was changed in two places.").waitFor();
});

test("any path of a folder can be typed, an absolute one too, or picked", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Details of Pictures").click();
  await button(page, "Why is a file not synced?").click();
  const dialog = page.getByRole("dialog", { name: "Look up a sync state" });
  const field = dialog.getByLabel("File or folder");
  assert.ok(await field.evaluate((input) => input === document.activeElement), "the field has the focus");
  await page.keyboard.type("/home/ada/Pictures/budget.ods");
  await page.keyboard.press("Enter");
  await dialog.getByText("Syncing is paused.").waitFor();
  await dialog.getByText("2 problems").waitFor();
  assert.deepEqual(await findings(page), []);
  await button(dialog, "Resume").click();
  await page.waitForFunction(() => window.cairn.calls.filter((call) => call.op === "why").length === 2);
  assert.deepEqual(await calls(page, "resume"), [{ op: "resume", folder: "/home/ada/Pictures" }]);

  await button(dialog, "Choose a file…").click();
  await dialog.getByText("It is on a disk that isn’t mounted now.").waitFor();
  await dialog.getByText("This concerns the folder usb above it.").waitFor();
  assert.equal(await field.inputValue(), "usb/film.mkv");

  await page.evaluate(() => window.cairn.fail("why", "/etc/passwd is not in /home/ada/Pictures"));
  await field.fill("/etc/passwd");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("is not in /home/ada/Pictures").waitFor();
  assert.equal(await dialog.getByText("It is on a disk").count(), 0, "no answer of another path stays");
});

test("a file manager's question opens its dialog, in a window that opens and in one that is open", async () => {
  const page = await here.open({ at: "why:/home/ada/Cairn/src/main.rs" });
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The rule “*.rs” in line 3 of src/.cairnignore ignores it.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  const ask = (dialog, path) =>
    page.evaluate((file) => window.cairn.file(file), { dialog, path: `/home/ada/${path}` });
  await ask("versions", "Cairn/notes/plan.md");
  await page.getByRole("dialog", { name: "Versions of plan.md" }).waitFor();
  // The next question takes the place of the one before.
  await ask("share", "Cairn/notes/plan.md");
  await page.getByRole("dialog", { name: "Share link for plan.md" }).waitFor();
  assert.equal(await dialog.count(), 1);
  await ask("why", "Elsewhere/a.txt");
  await dialog.getByText("It is in no synced folder.").waitFor();
  assert.deepEqual(await findings(page), []);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
});

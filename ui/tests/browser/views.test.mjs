// Every page in every state: nothing for axe to find, no error in the console, and a picture for the docs.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findings, world } from "./page.mjs";

const shots = process.env.CAIRN_SCREENSHOTS
  ? join(dirname(fileURLToPath(import.meta.url)), "../../../docs/screenshots")
  : undefined;

let here;
before(async () => {
  here = await world();
  if (shots) mkdirSync(shots, { recursive: true });
});
after(() => here.close());
afterEach(() => here.closePages());

/** Scene, page, name of the picture. */
const VIEWS = [
  ["busy", "overview", "overview"],
  ["idle", "activity", "activity"],
  ["attention", "attention", "attention"],
  ["encrypted", "attention", undefined],
  ["idle", "folders", "folders"],
  ["team", "folders", undefined],
  ["replaced", "devices", undefined],
  ["idle", "settings", "settings"],
  ["idle", "links", "links"],
  ["idle", "trash", "trash"],
  ["idle", "devices", "devices"],
  ["out", "setup", "setup"],
  ["burst", "activity", undefined],
  ["empty", "links", undefined],
  ["empty", "trash", undefined],
  ["out", "devices", undefined],
  ["out", "trash", undefined],
  ["empty", "overview", undefined],
  ["empty", "activity", undefined],
  ["empty", "folders", undefined],
  ["idle", "attention", undefined],
  ["paused", "overview", undefined],
  ["offline", "overview", undefined],
  ["attention", "overview", undefined],
  ["error", "overview", undefined],
  ["down", "overview", undefined],
  ["starting", "overview", undefined],
  ["out", "overview", undefined],
  ["out", "settings", undefined],
];

const SCHEMES = ["light", "dark"];

/** Looks at the page in both schemes; `look` may take its picture. */
async function inspect(page, look = () => undefined) {
  await page.waitForLoadState("networkidle");
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await findings(page), [], colorScheme);
    await look(colorScheme);
  }
  assert.deepEqual(page.errors, []);
}

for (const [scene, at, picture] of VIEWS) {
  // German words are the longest: where there is most of them, nothing may stick out.
  for (const lang of picture ? ["en", "de"] : ["en"]) {
    test(`${at} while ${scene}, ${lang}`, async () => {
      const page = await here.open({ scene, at, lang });
      await page.locator("h1").first().waitFor();
      await inspect(page, async (scheme) => {
        if (shots && picture && lang === "en") {
          await page.screenshot({ path: join(shots, `${picture}-${scheme}.png`) });
        }
      });
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      assert.equal(tooWide, false, "nothing sticks out to the right");
      await page.context().close();
    });
  }
}

test("the page of a folder", async () => {
  const page = await here.open({ at: "folders" });
  await page.getByRole("button", { name: "Details of Pictures", exact: true }).click();
  await page.getByRole("heading", { name: "Pictures", level: 1 }).waitFor();
  await inspect(page, async (scheme) => {
    if (shots && scheme === "light") await page.screenshot({ path: join(shots, "folder.png") });
  });
  await page.context().close();
});

/** Dialogs: scene, page, the button that opens it. */
const DIALOGS = [
  ["attention", "attention", "Compare: notes/plan.md", "conflict"],
  ["attention", "attention", "Delete them", undefined],
  ["encrypted", "attention", "Overwrite them", undefined],
  ["encrypted", "attention", "History of Pictures", undefined],
  ["team", "folders", "Add folder", undefined],
  ["idle", "folders", "Add folder", "add-folder"],
  ["idle", "folders", "Change Cairn", undefined],
  ["idle", "folders", "Ignore rules of Cairn", "ignore-rules"],
  ["idle", "folders", "Remove: Cairn", undefined],
  ["idle", "folders", "History of Pictures", "history"],
  ["idle", "folders", "Share link for Pictures", undefined],
  ["idle", "activity", "Versions…: reports/annual report 2026.pdf", undefined],
  ["idle", "activity", "Share link…: reports/annual report 2026.pdf", undefined],
  ["idle", "links", "New share link…", undefined],
  ["idle", "links", "Revoke: holiday", undefined],
  ["idle", "devices", "Remove: desk", undefined],
  ["idle", "devices", "Shut out…: desk", "shut-out"],
  ["idle", "devices", "Show words", "compare"],
  ["replaced", "devices", "Enter passphrase…", undefined],
  ["attention", "attention", "Why?: private/key.pem", "why"],
  ["idle", "activity", "Why?: src/main.rs", undefined],
  ["idle", "activity", "Undo changes…", undefined],
  ["idle", "settings", "Undo what an assistant did…", undefined],
  ["idle", "devices", "Log out: laptop", undefined],
  ["idle", "settings", "Change passphrase…", undefined],
  ["idle", "settings", "Create a recovery key…", undefined],
  ["idle", "settings", "Log out", undefined],
  ["idle", "settings", "Add webhook", undefined],
  ["idle", "settings", "Deliveries https://hooks.example.org/cairn", undefined],
];

for (const [scene, at, opener, picture] of DIALOGS) {
  test(`dialog "${opener}"`, async () => {
    const page = await here.open({ scene, at });
    const button = page.getByRole("button", { name: opener, exact: true }).first();
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await inspect(page, async (scheme) => {
      if (shots && picture && scheme === "light") {
        await page.screenshot({ path: join(shots, `${picture}.png`) });
      }
    });
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const focused = await button.evaluate((opener) => opener === document.activeElement);
    assert.ok(focused, "the focus is where it was");
    await page.context().close();
  });
}

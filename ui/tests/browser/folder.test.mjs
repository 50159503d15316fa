// The page of one folder: its state, its settings, and the ways to the views of each.
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

test("a folder's page says what is synced, how, and with what limits", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Details of Pictures").focus();
  await page.keyboard.press("Enter");
  const title = page.getByRole("heading", { name: "Pictures", level: 1 });
  await title.waitFor();
  assert.ok(
    await title.evaluate((heading) => heading === document.activeElement),
    "the focus is on the title",
  );
  for (const text of [
    "8,123 files · 38 GiB · nothing left to sync",
    "Only these subfolders: photos/2026",
    "Cairn asks before more than 50 % of the files, and at least 50, or 1,000 files are deleted",
    "2 rules in .cairnignore",
    "Upload: 1.9 MiB/s · Download: no limit",
    "1 share link",
  ]) {
    await page.getByText(text).waitFor();
  }
  assert.deepEqual(await calls(page, "links"), [{ op: "links", folder: "/home/ada/Pictures" }]);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await findings(page), [], colorScheme);
  }
  await button(page, "Folders").nth(1).click();
  await page.getByRole("heading", { name: "Folders", level: 1 }).waitFor();
});

test("one folder is paused for an hour and resumed, the others go on", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Details of Pictures").click();
  await page.getByRole("button", { name: "Pause" }).click();
  await button(page, "For one hour").click();
  await page.getByRole("heading", { name: "Paused" }).waitFor();
  await button(page, "Resume").click();
  await page.getByRole("heading", { name: "Up to date" }).waitFor();
  assert.deepEqual(
    [...(await calls(page, "pause")), ...(await calls(page, "resume"))],
    [
      { op: "pause", folder: "/home/ada/Pictures", span: "hour" },
      { op: "resume", folder: "/home/ada/Pictures" },
    ],
  );
});

test("each part of a folder's page opens the view of it, and new settings are shown", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Details of Pictures").click();
  const dialog = page.getByRole("dialog");
  for (const [opener, title] of [
    ["Change Pictures", "Change Pictures"],
    ["Ignore rules of Pictures", "Ignore rules of Pictures"],
    ["History of Pictures", "History of Pictures"],
    ["Share link for Pictures", "Share link for Pictures"],
    ["Stop syncing this folder…", "Stop syncing Pictures?"],
  ]) {
    await button(page, opener).click();
    await page.getByRole("dialog", { name: title }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  const before = (await calls(page, "folder")).length;
  await button(page, "Change Pictures").click();
  await button(dialog, "Save").click();
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(
    (count) => window.cairn.calls.filter((call) => call.op === "folder").length > count + 1,
    before,
  );
  await button(page, "All share links").click();
  await page.getByRole("heading", { name: "Share links" }).waitFor();
});

test("the selection of a folder is changed on its page by keyboard, with the sizes in view", async () => {
  const page = await here.open({ at: "folders", viewport: { width: 620, height: 440 } });
  await button(page, "Details of Pictures").click();
  await button(page, "Select subfolders…").focus();
  await page.keyboard.press("Enter");
  const region = page.getByRole("region", { name: "Select what is synced to this device" });
  await region.getByText("12 GiB of 40 GiB selected").waitFor();
  const inside = region.getByRole("checkbox", { name: "2026", exact: true });
  assert.equal(await inside.isChecked(), true, "what is selected is opened");
  const work = region.getByRole("checkbox", { name: "work", exact: true });
  const described = await work.evaluate(
    (box) => document.getElementById(box.getAttribute("aria-describedby") ?? "")?.textContent,
  );
  assert.equal(described, "2.0 GiB");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await findings(page), [], colorScheme);
  }
  const sideways = await page.evaluate(() => {
    const main = document.querySelector("main");
    return main.scrollWidth - main.clientWidth;
  });
  assert.equal(sideways, 0);

  await work.focus();
  await page.keyboard.press("Space");
  await region.getByText("14 GiB of 40 GiB selected").waitFor();
  await inside.focus();
  await page.keyboard.press("Space");
  await region.getByText("2.0 GiB of 40 GiB selected").waitFor();
  await button(region, "Save").focus();
  await page.keyboard.press("Enter");
  await region.waitFor({ state: "detached" });
  await page.getByText("Only these subfolders: work").waitFor();
  const opener = button(page, "Select subfolders…");
  assert.ok(await opener.evaluate((here) => here === document.activeElement), "the focus is where it was");
  const [asked] = await calls(page, "change_folder");
  assert.deepEqual(
    [asked.folder.local, asked.folder.only, asked.folder.gate],
    ["/home/ada/Pictures", ["work"], { percent: 50, files: 50, most: 1000 }],
  );
});

test("nothing is selected by mistake, and leaving the selection changes nothing", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Details of Pictures").click();
  await button(page, "Select subfolders…").click();
  const region = page.getByRole("region", { name: "Select what is synced to this device" });
  await region.getByRole("checkbox", { name: "2026", exact: true }).uncheck();
  assert.equal(await button(region, "Save").isDisabled(), true, "none is not everything");
  await region.getByLabel("Everything", { exact: true }).check();
  assert.equal(await button(region, "Save").isDisabled(), false);
  await button(region, "Cancel").click();
  await page.getByText("Only these subfolders: photos/2026").waitFor();
  assert.deepEqual(await calls(page, "change_folder"), []);

  await button(page, "Select subfolders…").click();
  await page.evaluate(() => window.cairn.fail("change_folder", "the daemon is busy"));
  await button(region, "Save").click();
  await region.getByRole("alert").getByText("the daemon is busy").waitFor();
});

test("a server without sizes gives the same tree without them", async () => {
  const page = await here.open({ scene: "empty", at: "folders" });
  await button(page, "Add folder").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Folder on this device").fill("~/Notes");
  await dialog.getByLabel("Folder on the service").fill("/");
  await dialog.getByLabel("Only selected subfolders").check();
  await dialog.getByRole("checkbox", { name: "photos", exact: true }).check();
  assert.equal(await dialog.getByText("GiB").count(), 0);
});

test("a folder of a team is selected from with its sizes, too", async () => {
  const page = await here.open({ scene: "team", at: "folders", lang: "de" });
  await button(page, "Ordner hinzufügen").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Ordner auf diesem Gerät").fill("~/Plans");
  await dialog.getByLabel("Dateien von").selectOption({ label: "Team Crew" });
  await dialog.getByRole("textbox", { name: "Ordner auf dem Server" }).fill("/plans");
  await dialog.getByLabel("Nur ausgewählte Unterordner").check();
  await dialog.getByText("0 B von 1,0 GiB ausgewählt").waitFor();
  await dialog.getByRole("checkbox", { name: "2027", exact: true }).check();
  await dialog.getByText("1,0 GiB von 1,0 GiB ausgewählt").waitFor();
});

test("a folder with something to decide leads there, and a team's has no links", async () => {
  const page = await here.open({ scene: "attention", at: "overview" });
  await button(page, "Details of Cairn").click();
  await page.getByRole("heading", { name: "Cairn", level: 1 }).waitFor();
  await page.getByText("4 things need attention").first().waitFor();
  assert.equal(
    await page.getByRole("heading", { name: "Share links" }).count(),
    0,
    "the whole account is not shared",
  );
  await button(page, "Review…").click();
  await page.getByRole("heading", { name: "Attention", exact: true }).waitFor();

  const team = await here.open({ scene: "team", at: "folders" });
  await button(team, "Details of Plans").click();
  await team.getByText("/plans of team Crew").waitFor();
  assert.equal((await calls(team, "links")).length, 0);
});

test("a folder that is removed has no page any more", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Details of Pictures").click();
  await page.getByRole("heading", { name: "Pictures", level: 1 }).waitFor();
  await page.evaluate(() => window.cairn.push({ ...window.cairn.scenes.idle, folders: [] }));
  await page.getByRole("heading", { name: "Folders", level: 1 }).waitFor();
});

test("a folder on this device is typed, and a path that begins nowhere is not taken", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Add folder").click();
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel("Folder on this device");
  await field.fill("Notes");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await button(dialog, "Add folder").isDisabled(), true);
  await field.fill("~/Notes");
  assert.equal(await dialog.getByLabel("Folder on the service").inputValue(), "/Notes");
  await button(dialog, "Add folder").click();
  await dialog.waitFor({ state: "detached" });
  const [asked] = await calls(page, "add_folder");
  assert.deepEqual([asked.folder.local, asked.folder.remote], ["~/Notes", "/Notes"]);
});

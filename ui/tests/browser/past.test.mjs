// Bursts, versions, the trash, the past of a folder, share links and devices: what a person does, and
// what the program is asked for then.
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

test("five hundred downloads are one row, which opens by keyboard", async () => {
  const page = await here.open({ scene: "burst", at: "activity" });
  await page.getByText("500 files in Cairn/Photos", { exact: true }).waitFor();
  assert.equal(await page.getByText("Photos/2020/0.jpg").count(), 0);
  const each = button(page, "Show each file: 500 files in Cairn/Photos");
  await each.focus();
  await page.keyboard.press("Enter");
  await page.getByText("Photos/2020/0.jpg").waitFor();
  assert.equal(await each.getAttribute("aria-expanded"), "true");
  assert.ok((await page.locator(".entry svg[data-icon=image]").count()) > 0, "pictures have their icon");
  await each.click();
  await page.getByText("Photos/2020/0.jpg").waitFor({ state: "detached" });
});

test("a deleted file is restored from the activity", async () => {
  const page = await here.open({ at: "activity" });
  await button(page, "Restore: budget.ods").first().click();
  await page.getByText("Restored: /budget.ods").waitFor({ state: "attached" });
  assert.deepEqual(await calls(page, "restore_deleted"), [
    { op: "restore_deleted", folder: "/home/ada/Cairn", path: "budget.ods" },
  ]);
});

test("a version that is a picture is shown as one", async () => {
  const page = await here.open({ scene: "burst", at: "activity" });
  await button(page, "Show each file: 500 files in Cairn/Photos").click();
  await button(page, "Versions…: Photos/2020/0.jpg").click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "Show: Version 2").click();
  const picture = dialog.getByRole("img", { name: "The picture of Version 2" });
  await picture.waitFor();
  await page.waitForFunction((image) => image.naturalWidth === 2, await picture.elementHandle());
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(page.errors, []);
});

test("a version is shown, compared with the present one and saved", async () => {
  const page = await here.open({ at: "activity" });
  await button(page, "Versions…: reports/annual report 2026.pdf").first().click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "Show: Version 2").click();
  await dialog.getByRole("region", { name: "Version 2" }).getByText("call Grace on Monday").waitFor();
  assert.deepEqual(await findings(page), []);
  await button(dialog, "Compare: Version 2").click();
  await dialog.getByRole("heading", { name: "Version 2 compared with version 3" }).waitFor();
  assert.match(await dialog.locator(".line.mine").first().textContent(), /only in version 2/);
  assert.deepEqual(await findings(page), []);
  const [asked] = await calls(page, "compare_versions");
  assert.deepEqual([asked.older, asked.newer], ["r2", "r3"]);
  await button(dialog, "Save as…: Version 2").click();
  await page.waitForFunction(() => window.cairn.calls.some((call) => call.op === "save_version"));
  assert.equal((await calls(page, "save_version"))[0].revision, "r2");
});

test("the trash of the server gives back, and says so if the name is in use", async () => {
  const page = await here.open({ at: "trash" });
  await button(page, "Restore: budget 2025.ods").click();
  await page.getByText("Restored: /budget 2025.ods").waitFor();
  await button(page, "Restore: plan.md").click();
  await page.getByText("Restored as /notes/plan (2).md, because the name plan.md is in use.").waitFor();
  await page.getByRole("searchbox").fill("drafts");
  await page.getByText("1 entry", { exact: true }).waitFor();
  assert.deepEqual(
    (await calls(page, "restore_remote")).map((call) => call.id),
    ["t1", "t3"],
  );
});

test("the trash of this device gives back, and a name in use is told", async () => {
  const page = await here.open({ at: "trash" });
  await button(page, "On this device").click();
  await page.getByText("notes/draft.md").waitFor();
  await page.evaluate(() =>
    window.cairn.fail(
      "restore_local",
      "there is another notes/draft.md in /home/ada/Cairn: rename that first",
    ),
  );
  await button(page, "Restore: notes/draft.md").click();
  await page.getByRole("alert").getByText("there is another notes/draft.md").waitFor();
  await page.evaluate(() => window.cairn.succeed("restore_local"));
  await button(page, "Restore: notes/draft.md").click();
  await page.getByText("Restored: notes/draft.md").waitFor();
  await page.getByText("The trash is empty").waitFor();
});

test("a folder goes back to before a burst: first the plan, and it can be taken back", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "History of Pictures").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("40 items in 2026").waitFor();
  await dialog.getByText("b.jpg → 2025/b.jpg").waitFor();
  await button(dialog, "Show older").click();
  await button(dialog, "Show older").waitFor({ state: "detached" });
  await button(dialog, "Restore to before this…: 40 items in 2026").focus();
  await page.keyboard.press("Enter");
  await dialog.getByText("40 files created since then go to the trash").waitFor();
  await dialog.getByText("/photos/c.jpg: the version of that time").waitFor();
  assert.deepEqual(await findings(page), []);
  const asked = await calls(page, "rewind");
  assert.deepEqual(asked, [
    {
      op: "rewind",
      folder: "/home/ada/Pictures",
      path: "",
      // A millisecond before the oldest of the burst.
      at: "2026-03-04T09:59:20.999Z",
      dry_run: true,
    },
  ]);
  await button(dialog, "Restore").click();
  await dialog.getByRole("heading", { name: "Pictures is restored" }).waitFor();
  assert.equal((await calls(page, "rewind"))[1].dry_run, false);
  await button(dialog, "Undo").click();
  await dialog.getByText("Undone.").waitFor();
  assert.deepEqual(await calls(page, "undo"), [{ op: "undo", session: "s1" }]);
  assert.deepEqual(await findings(page), []);
  await button(dialog, "Done").click();
  await dialog.getByText("40 items in 2026").waitFor();
});

test("the past of a part of a folder, and a time that is typed", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "History of Pictures").click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "This folder only: 2026").click();
  await button(dialog, "Whole history of Pictures").waitFor();
  assert.equal((await calls(page, "past")).at(-1).path, "2026");
  await dialog.getByLabel("Restore the folder as it was at").fill("2026-03-01 14:00");
  await page.evaluate(() => window.cairn.fail("rewind", "nothing is known of that time"));
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("nothing is known of that time").waitFor();
  const [asked] = await calls(page, "rewind");
  assert.deepEqual([asked.path, asked.at], ["2026", "2026-03-01 14:00"]);
  assert.equal(await button(dialog, "Restore").count(), 0, "nothing runs without its plan");
  await button(dialog, "Back").click();
  await dialog.getByLabel("Restore the folder as it was at").waitFor();
});

test("a link of a folder is made with a password, and its whole address copied", async () => {
  const page = await here.open({ at: "folders" });
  assert.equal(await button(page, "Share link for Cairn").count(), 0, "the whole account is not shared");
  await button(page, "Share link for Pictures").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Ends").selectOption("7");
  await dialog.getByLabel("Password (optional)").fill("open sesame");
  await button(dialog, "Create link").click();
  await dialog.getByText("Send the password another way.").waitFor();
  await dialog.getByText(/It ends .*11.*2026/).waitFor();
  await button(dialog, "Copy: Address").click();
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    "https://cloud.example.org/s/new999#the-key",
  );
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(await calls(page, "create_link"), [
    {
      op: "create_link",
      target: { kind: "local", folder: "/home/ada/Pictures", path: "" },
      choices: { password: "open sesame", days: 7, downloads: null, view_only: false },
    },
  ]);
});

test("links are made of anything on the service, switched off, and revoked after a question", async () => {
  const page = await here.open({ at: "links" });
  await button(page, "New share link…").click();
  const dialog = page.getByRole("dialog");
  assert.equal(await button(dialog, "Create link").isDisabled(), true);
  await button(dialog, "Show subfolders of photos").click();
  await dialog.getByRole("radio", { name: "2025", exact: true }).check();
  await button(dialog, "Create link").click();
  await dialog.getByText("Anyone with the whole address can open it.").waitFor();
  await button(dialog, "Done").click();
  assert.deepEqual((await calls(page, "create_link"))[0].target, { kind: "remote", id: "n-/photos/2025" });
  await button(page, "Switch off: holiday").click();
  await button(page, "Switch on: holiday").waitFor();
  await button(page, "Revoke: holiday").click();
  assert.equal((await calls(page, "change_link")).length, 1, "not before the answer");
  await button(dialog, "Revoke").click();
  await page.getByRole("heading", { name: "holiday" }).waitFor({ state: "detached" });
  assert.deepEqual(
    (await calls(page, "change_link")).map((call) => [call.id, call.action]),
    [
      ["l1", "disable"],
      ["l1", "revoke"],
    ],
  );
});

test("devices say when they were seen, and one is removed after a question", async () => {
  const page = await here.open({ at: "devices" });
  await page.getByText("Last seen 2 Mar 2026").or(page.getByText("Last seen Mar 2, 2026")).waitFor();
  assert.match(await page.locator("li", { hasText: "laptop" }).textContent(), /this device/);
  await button(page, "Remove: desk").click();
  const dialog = page.getByRole("dialog", { name: "Remove desk?" });
  await button(dialog, "Cancel").click();
  assert.equal((await calls(page, "remove_device")).length, 0);
  await button(page, "Remove: desk").click();
  await button(dialog, "Remove").click();
  await page.getByText("desk was removed.", { exact: true }).waitFor();
  await button(page, "Remove: old phone").click();
  await button(page.getByRole("dialog"), "Remove").click();
  await page.getByText("that key is still valid").waitFor();
  await button(page, "Log out: laptop").click();
  await button(page.getByRole("dialog"), "Log out").click();
  await page.waitForFunction(() => window.cairn.calls.some((call) => call.op === "logout"));
});

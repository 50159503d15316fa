// What a person does in the window, and what the program is asked for then.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { calls, findings, world } from "./page.mjs";

let here;
before(async () => {
  here = await world();
});
after(() => here.close());
afterEach(() => here.closePages());

const focused = (page) =>
  page.evaluate(() => document.activeElement?.labels?.[0]?.querySelector("span")?.textContent);
const button = (page, name) => page.getByRole("button", { name, exact: true });

test("a conflict is compared and resolved", async () => {
  const page = await here.open({ scene: "attention", at: "attention" });
  await button(page, "Compare: notes/plan.md").click();
  const dialog = page.getByRole("dialog", { name: "Two versions of plan.md" });
  await dialog.getByText("call Grace on Monday").waitFor();
  assert.equal(await dialog.locator(".line.mine").count(), 2);
  assert.match(await dialog.locator(".line.mine").first().textContent(), /only in the conflict copy/);
  await button(dialog, "Keep this device’s version").click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await calls(page, "resolve"), [
    {
      op: "resolve",
      folder: "/home/ada/Cairn",
      copy: "notes/plan (conflicted copy laptop 2026-03-04 101500).md",
      keep: "copy",
    },
  ]);
  assert.equal(await page.getByText("notes/plan.md").count(), 0);
});

test("a merge that fails says why, and the versions stay", async () => {
  const page = await here.open({ scene: "attention", at: "attention" });
  await page.evaluate(() => window.cairn.fail("resolve", "both changed the same line: choose one"));
  await button(page, "Compare: notes/plan.md").click();
  await button(page, "Merge").click();
  await page.getByRole("alert").getByText("both changed the same line: choose one").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 1);
});

test("deleting many files needs two confirmations, restoring them one", async () => {
  const page = await here.open({ scene: "attention", at: "attention" });
  await button(page, "Delete them").click();
  assert.equal((await calls(page, "confirm")).length, 0);
  await button(page.getByRole("dialog"), "Delete them").click();
  await button(page, "Restore them").click();
  assert.deepEqual(
    (await calls(page, "confirm")).map((call) => [call.folder, call.decision]),
    [
      ["/home/ada/Pictures", "delete"],
      ["/home/ada/Pictures", "keep"],
    ],
  );
});

test("files that look encrypted are kept at once, and overwrite the service's after a question", async () => {
  const page = await here.open({ scene: "encrypted", at: "attention" });
  await page.getByText("380 files in Pictures suddenly look encrypted").waitFor();
  await button(page, "Keep the service’s versions").focus();
  await page.keyboard.press("Enter");
  await button(page, "Overwrite them").click();
  assert.equal((await calls(page, "confirm")).length, 1, "nothing is overwritten before the question");
  const dialog = page.getByRole("dialog", { name: "Overwrite the service’s versions?" });
  await button(dialog, "Cancel").click();
  await button(page, "Overwrite them").click();
  await button(dialog, "Overwrite them").click();
  assert.deepEqual(
    (await calls(page, "confirm")).map((call) => [call.folder, call.decision]),
    [
      ["/home/ada/Pictures", "keep"],
      ["/home/ada/Pictures", "overwrite"],
    ],
  );
});

for (const [scene, note] of [
  ["encrypted", 1],
  ["attention", 0],
]) {
  test(`the time before is offered beside a question, ${scene}`, async () => {
    const page = await here.open({ scene, at: "attention" });
    await button(page, "History of Pictures").click();
    const dialog = page.getByRole("dialog", { name: "History of Pictures" });
    await button(dialog, "Restore to before this…: 40 items in 2026").click();
    assert.equal(await dialog.getByText("Some files may have been sent before Cairn asked").count(), 0);
    await button(dialog, "Back").click();
    assert.equal(await dialog.getByText("Some files may have been sent before Cairn asked").count(), note);
    await button(dialog, "Restore to before this…: 40 items in 2026").click();
    await button(dialog, "Restore").click();
    await dialog.getByText("Pictures is restored").waitFor();
    assert.deepEqual(
      (await calls(page, "rewind")).map((call) => [call.folder, call.dry_run]),
      [
        ["/home/ada/Pictures", true],
        ["/home/ada/Pictures", true],
        ["/home/ada/Pictures", false],
      ],
    );
  });
}

test("a folder is synced with a subfolder of a team, and shown as the team's", async () => {
  const page = await here.open({ scene: "team", at: "folders" });
  await page.getByText("/home/ada/Plans ↔ team Crew: /plans").waitFor();
  assert.equal(await button(page, "Share link for Plans").count(), 0, "links share one's own files");
  await button(page, "Add folder").click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "Choose…").click();
  await dialog.getByLabel("Files of").selectOption({ label: "Team Crew" });
  await dialog.getByLabel("Folder on the service").fill("/");
  await dialog.getByText("This syncs all files of the team to this folder.").waitFor();
  await dialog.getByText("Choose an existing folder").click();
  assert.equal(await dialog.getByRole("radio", { name: "photos", exact: true }).count(), 0);
  await dialog.getByRole("radio", { name: "plans", exact: true }).check();
  await dialog.getByLabel("Only selected subfolders").check();
  await dialog.getByRole("checkbox", { name: "2027", exact: true }).check();
  assert.deepEqual(await findings(page), []);
  await button(dialog, "Add folder").click();
  await dialog.waitFor({ state: "detached" });
  const [asked] = await calls(page, "add_folder");
  assert.deepEqual(
    [asked.folder.team, asked.folder.remote, asked.folder.only],
    [{ id: "t1", name: "Crew" }, "/plans", ["2027"]],
  );
});

test("a hundred thousand rows scroll with few in the page", async () => {
  const page = await here.open({ at: "activity", rows: 100_000 });
  await page.getByText("100,000 entries").waitFor();
  const list = page.getByRole("group", { name: "Activity, newest first" });
  await list.evaluate((box) => {
    box.scrollTop = box.scrollHeight;
  });
  await page.getByText("archive/99999.txt").waitFor();
  const drawn = await page.locator(".box li").count();
  assert.ok(drawn < 60, `${drawn} rows are in the page`);
  const last = page.locator(".box li").last();
  assert.equal(await last.getAttribute("aria-posinset"), await last.getAttribute("aria-setsize"));
  await page.getByRole("searchbox").fill("99998");
  await page.getByText("1 entry", { exact: true }).waitFor();
});

test("what happens while the list is open comes on top", async () => {
  const page = await here.open({ at: "activity" });
  await page.getByText("60 entries").waitFor();
  await page.evaluate(() =>
    window.cairn.activity({
      at: "2026-03-04T11:00:00Z",
      kind: "uploaded",
      path: "brand new.txt",
      folder: "/home/ada/Cairn",
      device: "desk",
      bytes: 1,
    }),
  );
  await page.getByText("61 entries").waitFor();
  assert.match(await page.locator(".box .entry").first().textContent(), /brand new\.txt/);
  assert.match(await page.locator(".box .day").first().textContent(), /March/);
  await page.getByLabel("Type").selectOption("deleted");
  await page.getByText("15 entries").waitFor();
});

test("an old version is restored", async () => {
  const page = await here.open({ at: "activity" });
  await button(page, "Versions…: reports/annual report 2026.pdf").first().click();
  await button(page, "Restore: Version 2").click();
  await page.getByText("Restored. The previous version stays in the list.").waitFor({ state: "attached" });
  const asked = await calls(page, "restore_version");
  assert.equal(asked[0].revision, "r2");
  assert.equal(asked[0].path, "reports/annual report 2026.pdf");
});

test("a folder is added with the system's picker and chosen subfolders", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Add folder").click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "Choose…").click();
  const remote = dialog.getByLabel("Folder on the service");
  await remote.waitFor();
  assert.equal(await dialog.getByLabel("Folder on this device").inputValue(), "/home/ada/Documents");
  assert.equal(await remote.inputValue(), "/Documents", "never the whole account");
  await remote.fill("/");
  await dialog.getByText("This syncs everything in your account").waitFor();
  await dialog.getByText("Choose an existing folder").click();
  await dialog.getByRole("radio", { name: "photos", exact: true }).check();
  assert.equal(await remote.inputValue(), "/photos");
  await dialog.getByLabel("Only selected subfolders").check();
  await dialog.getByRole("checkbox", { name: "2026", exact: true }).check();
  assert.equal(await dialog.getByLabel("Ask before many files are deleted").isVisible(), false);
  await button(dialog, "Add folder").click();
  await dialog.waitFor({ state: "detached" });
  const [asked] = await calls(page, "add_folder");
  assert.deepEqual(asked.folder, {
    local: "/home/ada/Documents",
    remote: "/photos",
    team: null,
    private: false,
    mode: "two-way",
    only: ["2026"],
    exclude: [],
    gate: { percent: 50, files: 50, most: 1000 },
  });
});

test("a folder is synced with the private space, whose folder is typed", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Add folder").click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "Choose…").click();
  await dialog.getByLabel("Files of").selectOption({ label: "Your private space" });
  await dialog.getByText("The server can’t see the names of the files").waitFor();
  assert.equal(await dialog.getByText("Choose an existing folder").isVisible(), false);
  assert.equal(await dialog.getByLabel("Only selected subfolders").isVisible(), false);
  await dialog.getByLabel("Folder on the service").fill("/diary");
  await button(dialog, "Add folder").click();
  await dialog.waitFor({ state: "detached" });
  const [{ folder }] = await calls(page, "add_folder");
  assert.deepEqual([folder.private, folder.team, folder.remote, folder.only], [true, null, "/diary", []]);
});

test("part of a folder is chosen by unchecking what is not wanted", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Change Cairn").click();
  const dialog = page.getByRole("dialog");
  const photos = dialog.getByRole("checkbox", { name: "photos", exact: true });
  assert.equal(await photos.evaluate((box) => box.indeterminate), true);
  await photos.check();
  // What is above a selected folder is open from the beginning.
  await dialog.getByRole("checkbox", { name: "2025", exact: true }).uncheck();
  await button(dialog, "Save").click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual((await calls(page, "change_folder"))[0].folder.only, ["photos/2026"]);
});

test("ignore rules are tried while they are written, and kept", async () => {
  const page = await here.open({ at: "folders" });
  await button(page, "Ignore rules of Cairn").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Test a path").fill("/out/x.log");
  await dialog.getByText("Ignored by *.log").waitFor();
  await dialog.getByLabel("One rule per line").fill("*.tmp\n");
  await dialog.getByText("Synced", { exact: true }).waitFor();
  await button(dialog, "Save").click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual((await calls(page, "set_ignore"))[0].lines, ["*.tmp"]);
});

test("from nothing to a synced folder in four steps, by keyboard alone", async () => {
  const page = await here.open({ scene: "out", later: false });
  await page.getByText("Step 1 of 4").waitFor();
  await page.getByText("It does see the names").waitFor();
  assert.equal(await focused(page), "Server address");
  await page.keyboard.type("https://cloud.example.org");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Continue in your browser" }).waitFor();
  assert.match(await page.getByLabel("Address", { exact: true }).inputValue(), /oauth\/authorize/);
  await button(page, "Copy: Address").click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /oauth\/authorize/);
  assert.deepEqual(await findings(page), []);
  await page.evaluate(() => window.cairn.steps.passphrase());
  await page.getByText("Step 2 of 4").waitFor();
  assert.equal(await focused(page), "Passphrase");
  const login = button(page, "Log in");
  await page.keyboard.type("short");
  await page.getByText("This passphrase is too easy to guess.").waitFor();
  await page.getByLabel("Repeat passphrase").fill("short");
  assert.equal(await login.isDisabled(), true, "not with a weak one");
  assert.deepEqual(await findings(page), []);
  await page.getByLabel("Passphrase", { exact: true }).fill("correct horse battery staple");
  await page.getByText("Strong", { exact: true }).waitFor();
  assert.equal(await login.isDisabled(), true, "not before it was typed twice");
  await page.getByLabel("Repeat passphrase").fill("correct horse battery staple");
  await page.keyboard.press("Enter");
  await page.getByText("Step 3 of 4").waitFor();
  await button(page, "Create recovery key").click();
  const key = await page.locator(".key code").allTextContents();
  assert.equal(key.length, 8);
  assert.deepEqual(await findings(page), []);
  const inputs = page.getByLabel(/Group \d/);
  await inputs.first().fill("XXXX");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  for (const input of await inputs.all()) {
    const label = await input.evaluate((box) => box.labels[0].textContent);
    await input.fill(key[Number(label.match(/\d/)[0]) - 1].toLowerCase());
  }
  await page.keyboard.press("Enter");
  await page.getByText("Step 4 of 4").waitFor();
  await button(page, "Choose…").click();
  await button(page, "Start syncing").click();
  await page.getByRole("heading", { name: "All set" }).waitFor();
  assert.equal((await calls(page, "login"))[0].form.api_key, null);
  const [entered] = await calls(page, "enter_passphrase");
  assert.equal(entered.passphrase, "correct horse battery staple");
  assert.equal((await calls(page, "recovery_setup"))[0].passphrase, entered.passphrase);
  assert.equal((await calls(page, "add_folder"))[0].folder.local, "/home/ada/Documents");
  await button(page, "Done").click();
  await page.getByRole("navigation").waitFor();
});

test("a passphrase can be generated, and is shown to be written down", async () => {
  const page = await here.open({ scene: "out", later: false });
  await page.getByLabel("Server address").fill("https://cloud.example.org");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Continue in your browser" }).waitFor();
  await page.evaluate(() => window.cairn.steps.passphrase());
  await button(page, "Generate a passphrase").click();
  const shown = await page.getByRole("textbox", { name: "Write it down" }).inputValue();
  assert.deepEqual(await findings(page), []);
  await button(page, "Log in").click();
  assert.deepEqual(await calls(page, "enter_passphrase"), [{ op: "enter_passphrase", passphrase: shown }]);
});

test("a known account needs its passphrase once, and a wrong one is said at the field", async () => {
  const page = await here.open({ scene: "out", later: false, known: true });
  await page.getByLabel("Server address").fill("https://cloud.example.org");
  await page.getByLabel("With an API key").check();
  await page.getByLabel("API key", { exact: true }).fill("ck_secret");
  await page.keyboard.press("Enter");
  await page.getByText("Enter the passphrase of ada@example.org.").waitFor();
  assert.equal(await page.getByLabel("Repeat passphrase").count(), 0);
  await page.getByLabel("Passphrase", { exact: true }).fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("This is not the passphrase of the account.").waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByLabel("Passphrase", { exact: true }).fill("right");
  await page.keyboard.press("Enter");
  await page.getByText("Step 3 of 4").waitFor();
});

test("a server that can't be reached is said on the first step, and the error goes with the next try", async () => {
  const page = await here.open({ scene: "out", later: false });
  await page.evaluate(() => window.cairn.fail("login", "can't reach https://nowhere.example"));
  await page.getByLabel("Server address").fill("https://nowhere.example");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("can't reach").waitFor();
  await page.getByText("Step 1 of 4").waitFor();
  await page.evaluate(() => window.cairn.succeed("login"));
  await button(page, "Continue").click();
  await page.getByRole("heading", { name: "Continue in your browser" }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("a login can go on in a browser on another device", async () => {
  const page = await here.open({ scene: "out", later: false });
  await page.getByLabel("Server address").fill("https://cloud.example.org");
  await page.keyboard.press("Enter");
  await button(page, "Use a browser on another device").click();
  await page.getByLabel("Code", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Code", { exact: true }).inputValue(), "BDFG-HJKL");
  assert.deepEqual(
    (await calls(page, "login")).map((call) => call.form.device_code),
    [false, true],
  );
});

test("a login with the command line is noticed", async () => {
  const page = await here.open({ scene: "out", later: false });
  await page.getByText("Step 1 of 4").waitFor();
  await page.evaluate(() => window.cairn.push(window.cairn.scenes.empty));
  await page.getByText("Step 3 of 4").waitFor();
});

test("setting up can be left, and taken up again", async () => {
  const page = await here.open({ scene: "out", later: false });
  await button(page, "Later").click();
  await page.getByRole("navigation").waitFor();
  assert.equal((await calls(page, "set_settings"))[0].settings.setup_left, true);
  await button(page, "Log in").click();
  await page.getByText("Step 1 of 4").waitFor();
});

test("a login that waits can be cancelled, which is no error", async () => {
  const page = await here.open({ scene: "out", later: false });
  await page.getByLabel("Server address").fill("https://cloud.example.org");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Continue in your browser" }).waitFor();
  await button(page, "Cancel").click();
  await page.getByText("Step 1 of 4").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.equal(await page.getByLabel("Server address").inputValue(), "https://cloud.example.org");
});

test("the language changes at once, everywhere", async () => {
  const page = await here.open({ at: "settings" });
  await page.getByLabel("Language").selectOption("de");
  await page.getByRole("heading", { name: "Einstellungen" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
  await button(page, "Aktivität").click();
  await page.getByText("60 Einträge").waitFor();
});

test("settings go to where they belong", async () => {
  const page = await here.open({ at: "settings" });
  await page.getByLabel("Upload limit").fill("500KB");
  await page.getByLabel("Pause on battery").check();
  await page.getByLabel("Finished large syncs").uncheck();
  await page.getByLabel("Start syncing").uncheck();
  await page.waitForFunction(() => window.cairn.calls.some((call) => call.op === "set_autostart"));
  assert.deepEqual(
    (await calls(page, "set_config")).map((call) => [call.key, call.value]),
    [
      ["limits.up", "500KB"],
      ["pause.on_battery", "true"],
    ],
  );
  assert.equal((await calls(page, "set_settings"))[0].settings.notify.done, false);
  assert.deepEqual((await calls(page, "set_autostart"))[0], {
    op: "set_autostart",
    tray: true,
    daemon: false,
  });
  await button(page, "Copy").click();
  await button(page, "Copied").waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /"mcpServers"/);
});

test("a failed request is shown until it is dismissed", async () => {
  const page = await here.open();
  await page.evaluate(() => window.cairn.fail("pause", "the daemon is not running just now"));
  await button(page, "Pause").click();
  await button(page, "Until tomorrow").click();
  await page.getByRole("alert").getByText("the daemon is not running just now").waitFor();
  await button(page.getByRole("alert"), "Close").click();
  await page.getByRole("alert").waitFor({ state: "detached" });
});

test("pausing shows everywhere, and the pages by keyboard alone", async () => {
  const page = await here.open();
  await button(page, "Pause").click();
  await page.keyboard.press("Escape");
  assert.equal(await button(page, "For one hour").count(), 0);
  await button(page, "Pause").click();
  await button(page, "For one hour").click();
  await button(page, "Resume").waitFor();
  assert.deepEqual(await calls(page, "pause"), [{ op: "pause", folder: null, span: "hour" }]);
  assert.equal(await page.getByTestId("headline").textContent(), "Paused");
  assert.equal(await page.locator("footer [role=status]").textContent(), "Paused");
  for (const name of ["Activity", "Attention", "Folders", "Share links", "Trash", "Devices", "Settings"]) {
    await button(page, name).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("main", { name }).waitFor();
  }
  await page.evaluate(() => window.cairn.page("overview"));
  await page.getByRole("main", { name: "Overview" }).waitFor();
});

test("a daemon that comes back shows by itself", async () => {
  const page = await here.open({ scene: "down" });
  await page.getByRole("heading", { name: "Syncing can’t start" }).first().waitFor();
  await button(page, "Try again").click();
  assert.equal((await calls(page, "retry")).length, 1);
  await page.evaluate(() => window.cairn.push(window.cairn.scenes.idle));
  await page.getByRole("heading", { name: "Folders" }).waitFor();
});

test("nothing moves where a person wants no motion", async () => {
  const still = await here.open({ scene: "busy", motion: "reduce" });
  const animations = (page) => page.evaluate(() => document.getAnimations().length);
  assert.equal(await animations(still), 0);
  const moving = await here.open({ scene: "busy", motion: "no-preference" });
  assert.ok((await animations(moving)) > 0);
});

test("a webhook is added, tried and its failed delivery sent again", async () => {
  const page = await here.open({ at: "settings" });
  await button(page, "Add webhook").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("https://hooks.example.org/new");
  await dialog.getByLabel("file.moved").check();
  await button(dialog, "Add webhook").click();
  await dialog.getByText("whsec_0123456789abcdef").waitFor();
  assert.deepEqual(await calls(page, "add_webhook"), [
    { op: "add_webhook", url: "https://hooks.example.org/new", events: ["file.uploaded", "file.moved"] },
  ]);
  await button(dialog, "Close").click();
  await button(page, "Test https://hooks.example.org/cairn").click();
  assert.equal((await calls(page, "change_webhook"))[0].action, "test");
  await button(page, "Deliveries https://hooks.example.org/cairn").click();
  await dialog.getByText("HTTP 500").waitFor();
  await button(dialog, "Try again").click();
  await page.waitForFunction(() => window.cairn.calls.some((call) => call.op === "retry_delivery"));
  assert.equal((await calls(page, "retry_delivery"))[0].delivery, "d2");
});

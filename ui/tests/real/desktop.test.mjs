// The real program on a real (virtual) desktop, with a real daemon and server.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { family, memory, until, World } from "./desktop.mjs";

let world;
before(async () => {
  world = new World();
  await world.panel();
  await world.server();
});
after(() => world.close());

let window;
afterEach(async (test) => {
  if (!test.passed) world.report();
  await window?.end();
  window = undefined;
  await world.endTrays();
});

/** Everything has reached the service. */
const settled = () => world.cairn("status", "--wait", "--timeout", "60");
const headline = () => window.text("[data-testid=headline]");

const PICKER = "Select Folder|Open Folder|Choose|Open";

/** Types a path into the system's folder picker, as often as it takes: keys that come before the dialog
 * is ready are lost, and an early Return takes another folder. */
async function pick(path) {
  const shown = await until("the system's folder picker", async () => {
    const [found] = world.windows(PICKER);
    if (found) return found;
    await window.button("Choose…");
    return null;
  });
  try {
    world.xdo("windowfocus", "--sync", shown);
    world.xdo("key", "ctrl+a");
    world.xdo("type", "--delay", "20", path);
    world.xdo("key", "Return");
    await until("the end of the picker", () => world.windows(PICKER).length === 0, 3_000);
  } catch {
    // It went away between two keys, or is there still: the caller looks at what was chosen.
  }
}

test("from nothing to a synced folder, through the four steps", async () => {
  writeFileSync(join(world.folder, "hello.txt"), "hello\n");
  window = await world.driven();
  await window.see("Step 1 of 4");
  await window.type("Server address", world.url);
  await window.click("//label[contains(., 'With an API key')]//input");
  await window.type("API key", "ck_dev_owner");
  await window.click("//summary");
  await window.type("Name of this device (optional)", "window");
  await window.click("//label[contains(., 'private file')]//input");
  await window.button("Continue");
  await window.see("Step 2 of 4");
  await window.type("Passphrase", "correct horse battery staple");
  await window.type("Repeat passphrase", "correct horse battery staple");
  await window.button("Log in");
  await window.see("Step 3 of 4");
  await window.button("Create recovery key");
  await window.find("//ol[contains(@class, 'key')]//code");
  const key = await window.script(
    "return [...document.querySelectorAll('.key code')].map((code) => code.textContent)",
  );
  const asked = await window.script(
    "return [...document.querySelectorAll('label')].map((l) => l.textContent.match(/Group (\\d+)/)?.[1]).filter(Boolean)",
  );
  for (const group of asked) await window.type(`Group ${group}`, key[Number(group) - 1]);
  await window.button("Continue");
  await window.see("Step 4 of 4");
  await until("the chosen folder", async () => {
    const chosen = await window.script("return document.querySelector('[data-testid=local]').value");
    if (chosen.includes(world.folder)) return true;
    await pick(world.folder);
    return false;
  });
  const remote = await window.script(
    "return [...document.querySelectorAll('label')].find((label) => label.textContent.includes('Folder on the service')).querySelector('input').value",
  );
  assert.equal(remote, "/folder", "a folder of the same name, never the whole account");
  await window.button("Start syncing");
  await window.see("All set");
  const status = world.cairn("status", "--wait", "--timeout", "60");
  assert.equal(status.folders[0].local, world.folder);
  assert.equal(status.folders[0].files, 1);
  assert.deepEqual(
    world.cairn("list", "/folder").nodes.map((node) => node.name),
    ["hello.txt"],
  );
  assert.equal(world.cairn("recovery-key", "status").configured, true);
});

test("a pause from the tray shows in the window and on the command line, and back", async () => {
  window = await world.driven();
  const item = await world.item();
  await until("the headline", async () => (await headline()) === "Up to date");
  const before = world.icon(item);
  assert.equal(world.menu(item).find((entry) => entry.label === "Up to date")?.enabled, false);
  await world.click(item, "Until I resume");
  await until("the pause in the window", async () => (await headline()) === "Paused");
  assert.equal(world.cairn("status").state, "paused");
  await until("another icon", () => world.icon(item) !== before);
  await until("the menu's status", () => world.menu(item).some((entry) => entry.label === "Paused"));
  await window.button("Resume");
  await until("the resume in the tray", () => world.menu(item).some((entry) => entry.label === "Up to date"));
  assert.equal(world.cairn("status").state, "idle");
});

test("a conflict of two devices is resolved in the window", async () => {
  const other = world.path("other-home");
  const otherFolder = world.path("other-folder");
  mkdirSync(other, { mode: 0o700 });
  mkdirSync(otherFolder);
  world.logIn(other, "desk");
  world.cairnAt(other, "add", otherFolder, "--remote", "/folder");
  world.cairnAt(other, "status", "--wait", "--timeout", "60");
  try {
    world.cairn("pause");
    writeFileSync(join(world.folder, "hello.txt"), "hello from the window\n");
    writeFileSync(join(otherFolder, "hello.txt"), "hello from the desk\n");
    world.cairnAt(other, "status", "--wait", "--timeout", "60");
    world.cairn("resume");
    await until("a conflict", () => world.cairn("conflicts").conflicts.length === 1);
    window = await world.driven();
    await window.click("//nav//button[span='Attention']");
    await window.button("Compare: hello.txt");
    await window.see("hello from the window");
    await window.see("hello from the desk");
    await window.button("Keep this device’s version");
    await until("the resolved conflict", () => world.cairn("conflicts").conflicts.length === 0);
    await window.see("Nothing needs attention");
    assert.equal(readFileSync(join(world.folder, "hello.txt"), "utf8"), "hello from the window\n");
    await until("one file on the other device", () => {
      const here = readFileSync(join(otherFolder, "hello.txt"), "utf8");
      const files = readdirSync(otherFolder).filter((name) => !name.startsWith("."));
      return here === "hello from the window\n" && files.length === 1;
    });
  } finally {
    world.cairnAt(other, "stop");
  }
});

test("a file is shared, deleted and brought back out of the trash, in the window", async () => {
  const file = join(world.folder, "shared.txt");
  writeFileSync(file, "for others\n");
  settled();
  window = await world.driven();
  await window.button("Activity");
  await window.button("Share link…: shared.txt");
  await window.button("Create link");
  await window.see("The link is ready.");
  const [link] = world.cairn("share", "list").links;
  assert.match(link.address, /#.+/);
  assert.equal(await window.script("return document.querySelector('dialog input').value"), link.address);
  await window.button("Done");
  rmSync(file);
  settled();
  await window.button("Trash");
  await window.button("Restore: shared.txt");
  await window.see("Restored: /folder/shared.txt");
  await until("the file on this device", () => existsSync(file));
  assert.equal(readFileSync(file, "utf8"), "for others\n");
});

test("a folder goes back to before a deletion, in the window, and that is taken back", async () => {
  const file = join(world.folder, "past.txt");
  writeFileSync(file, "once\n");
  settled();
  rmSync(file);
  settled();
  window = await world.driven();
  await window.button("Folders");
  await window.button("History of folder");
  await window.click(
    "//dialog//li[contains(., 'Deleted') and contains(., 'past.txt')]//button[contains(., 'Restore to before')]",
  );
  await window.see("1 file comes back from the trash");
  assert.equal(existsSync(file), false, "the plan does nothing yet");
  await window.click("//dialog//button[normalize-space()='Restore']");
  await window.see("folder is restored");
  await until("the file on this device", () => existsSync(file));
  assert.equal(readFileSync(file, "utf8"), "once\n");
  await window.button("Undo");
  await window.see("Undone.");
  await until("the deletion on this device", () => !existsSync(file));
});

test("a folder's page says why a file is ignored, and pauses that folder", async () => {
  writeFileSync(join(world.folder, ".cairnignore"), "# built\n*.log\n");
  writeFileSync(join(world.folder, "x.log"), "x\n");
  settled();
  window = await world.driven();
  await window.button("Folders");
  await window.button("Details of folder");
  await window.see("1 rule in .cairnignore");
  await window.button("Why is a file not synced?");
  await window.type("File or folder", join(world.folder, "x.log"));
  await window.button("Look it up");
  await window.see("The rule “*.log” in line 2 of .cairnignore ignores it.");
  await window.type("File or folder", "hello.txt");
  await window.button("Look it up");
  await window.see("It is the same on this device and on the service.");
  await window.click("//dialog//button[normalize-space()='Close']");
  await window.click("//main//button[contains(., 'Pause')]");
  await window.button("Until I resume");
  await until("the pause of the folder", () => world.cairn("status").folders[0].state === "paused");
  await window.button("Resume");
  await until("the end of the pause", () => world.cairn("status").folders[0].state !== "paused");
});

test("a file manager's question opens its dialog, at the first start and in the open window", async () => {
  const log = join(world.folder, "50% #1 ü.log");
  writeFileSync(join(world.folder, ".cairnignore"), "*.log\n");
  writeFileSync(log, "x\n");
  settled();
  window = await world.driven("--why", log);
  await window.see("Sync state of 50% #1 ü.log");
  await window.see("The rule “*.log” in line 1 of .cairnignore ignores it.");
  // Relative to where it is started.
  const versions = world.start(process.env.CAIRN_TRAY_BIN, world.trayArguments("--versions", "hello.txt"), {
    env: world.env,
    cwd: world.folder,
  });
  assert.equal(await versions.ended, 0, versions.output);
  await window.see("Versions of hello.txt");
  assert.equal(await world.tray("--share", join(world.folder, "hello.txt")).ended, 0);
  await window.see("Share link for hello.txt");
  assert.equal(await world.tray("--why", "/etc/passwd").ended, 0);
  await window.see("It is in no synced folder.");
});

test("the words to compare are those of the command line, and a session is undone", async () => {
  settled();
  world.cairn("mkdir", "/made by a command");
  window = await world.driven();
  await window.button("Devices");
  await window.button("Show words");
  const [space] = world.cairn("compare").spaces;
  await window.see("Your own files");
  const words = await window.script(
    "return [...document.querySelectorAll('dialog ol strong')].map((word) => word.textContent)",
  );
  assert.deepEqual(words, space.words);
  await window.click("//dialog//button[normalize-space()='Close']");
  await window.button("Activity");
  await window.button("Undo changes…");
  await window.click(
    "//dialog//li[contains(., 'cairn mkdir ') and contains(., '/made by a command')]//button",
  );
  await window.see("This would happen:");
  await window.click("//dialog//button[normalize-space()='Undo']");
  await window.see("Undone.");
  const names = world.cairn("list", "/").nodes.map((node) => node.name);
  assert.ok(!names.includes("made by a command"), names.join(", "));
});

test("in the smallest window every page can be reached, and nothing sticks out", async () => {
  window = await world.driven();
  await until("the headline", async () => (await headline()) === "Up to date");
  await window.post(`${window.session}/window/rect`, { width: 620, height: 440 });
  await until("the small window", () => window.script("return innerWidth < 700"));
  for (const name of ["Activity", "Attention", "Folders", "Share links", "Trash", "Devices", "Settings"]) {
    await window.button(name);
    await window.find(`//main[@aria-label="${name}"]//h1`);
    const sticksOut = await window.script(
      "const main = document.querySelector('main'); return main.scrollWidth > main.clientWidth",
    );
    assert.equal(sticksOut, false, name);
  }
});

test("a daemon that is killed is started again while the window is open", async () => {
  window = await world.driven();
  await until("the headline", async () => (await headline()) === "Up to date");
  const { pid } = world.cairn("start");
  process.kill(pid, "SIGKILL");
  await until("the window to notice", async () => (await headline()) !== "Up to date");
  await until("a new daemon", async () => (await headline()) === "Up to date");
  assert.notEqual(world.cairn("--no-start", "start").pid, pid);
});

test("a second start shows the first one's window, and closing destroys its engine", async () => {
  const tray = world.tray("--autostarted");
  const item = await world.item();
  assert.deepEqual(world.windows("^Cairn$"), [], "started by the desktop: nothing opens");
  const webviews = () => family(tray.pid).filter((pid) => name(pid) === "WebKitWebProces");
  const idle = memory(family(tray.pid));
  const begun = performance.now();
  await world.click(item, "Open Cairn");
  await until("the window", () => world.windows("^Cairn$").length === 1);
  const opening = performance.now() - begun;
  await until("its engine", () => webviews().length === 1);
  const second = world.tray();
  assert.equal(await second.ended, 0);
  // It never connects to the display, where ending in the middle of the toolkit's start can crash.
  const blind = world.start(process.env.CAIRN_TRAY_BIN, world.trayArguments(), {
    env: { ...world.env, DISPLAY: ":987" },
  });
  assert.equal(await blind.ended, 0, blind.output);
  assert.equal(world.windows("^Cairn$").length, 1);
  const open = memory(family(tray.pid));
  const [shown] = world.windows("^Cairn$");
  world.xdo("windowfocus", "--sync", shown, "key", "alt+F4");
  await until("the engine's end", () => webviews().length === 0);
  const closed = memory(family(tray.pid));
  console.log(
    `MiB: idle ${idle.toFixed(0)}, window ${open.toFixed(0)}, closed ${closed.toFixed(0)}; opened in ${opening.toFixed(0)} ms`,
  );
  assert.ok(closed < open - 50, `${open} MiB with the window, ${closed} after`);
  assert.equal(tray.exitCode, null, "the tray goes on");
  await world.tray().ended;
  await until("the window again", () => world.windows("^Cairn$").length === 1);
  await world.click(item, "Quit tray");
  assert.equal(await tray.ended, 0);
  assert.equal(world.cairn("--no-start", "status").state, "idle", "quitting the tray stops no sync");
});

test("a logout is shown, and a new login too", async () => {
  window = await world.driven();
  await until("the headline", async () => (await headline()) === "Up to date");
  await window.button("Settings");
  await window.see("owner@example.com");
  await window.button("Log out");
  await window.click("//dialog//button[normalize-space()='Log out']");
  await window.button("Overview");
  await window.see("Log in to continue syncing");
  const item = await world.item();
  await until("the tray's entry", () => world.menu(item).some((entry) => entry.label === "Log in…"));
  world.logIn(world.home, "window");
  await window.script("document.body.dataset.same = 'page'");
  world.cairn("start");
  await until("a working daemon in the same page", async () => (await headline()) === "Up to date", 40_000);
  assert.equal(await window.script("return document.body.dataset.same"), "page");
});

test("without a display there is one clear line", async () => {
  const env = { ...world.env, DISPLAY: "", WAYLAND_DISPLAY: "" };
  const blind = world.start(process.env.CAIRN_TRAY_BIN, world.trayArguments(), { env });
  assert.equal(await blind.ended, 1);
  assert.match(blind.output, /^cairn-tray: there is no display[^\n]*\n$/);
  const wrong = world.start(process.env.CAIRN_TRAY_BIN, world.trayArguments(), {
    env: { ...env, DISPLAY: ":987" },
  });
  assert.equal(await wrong.ended, 1);
  assert.match(wrong.output, /cairn-tray: there is no display/);
});

test("stopping sync and quitting ends both", async () => {
  const tray = world.tray("--autostarted");
  const item = await world.item();
  await until("the daemon", () => world.menu(item).some((entry) => entry.label === "Up to date"));
  await world.click(item, "Stop sync and quit");
  assert.equal(await tray.ended, 0);
  assert.throws(() => world.cairn("--no-start", "status"));
  assert.ok(existsSync(join(world.folder, "hello.txt")));
});

test("without a panel the program goes on, and a second start opens the window", async () => {
  const panel = world.children.find((child) => child.spawnfile === "xfce4-panel");
  panel.kill("SIGTERM");
  await panel.ended;
  const tray = world.tray("--autostarted");
  await until("the daemon", () => world.cairn("--no-start", "status").state === "idle");
  assert.equal(await world.tray().ended, 0);
  await until("the window", () => world.windows("^Cairn$").length === 1);
  assert.equal(tray.exitCode, null);
  tray.kill("SIGTERM");
  await tray.ended;
});

function name(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

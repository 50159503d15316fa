// Taking back what an assistant did, and the configuration of assistants' programs; the bug report.
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

for (const [at, opener] of [
  ["activity", "Undo changes…"],
  ["settings", "Undo what an assistant did…"],
]) {
  test(`what an assistant did is undone after a preview, ${at}`, async () => {
    const page = await here.open({ at });
    await button(page, opener).click();
    const dialog = page.getByRole("dialog", { name: "Undo changes" });
    await dialog.getByText("27 changes").waitFor();
    assert.deepEqual(await findings(page), []);
    await dialog.getByRole("button", { name: /^Undo…: AI assistant/ }).focus();
    await page.keyboard.press("Enter");
    await dialog.getByText("1 folder goes to the trash with everything in it").waitFor();
    await dialog.getByText("21 items go back to where they were").waitFor();
    assert.equal(await dialog.getByText("comes back from the trash").count(), 0, "only what would happen");
    assert.equal((await calls(page, "undo")).length, 0, "nothing runs before the preview was seen");
    assert.deepEqual(await findings(page), []);
    await button(dialog, "Undo").click();
    await dialog.getByText("Undone.").waitFor();
    await dialog.getByText("/archive/report.odt was changed since").waitFor();
    assert.deepEqual(await calls(page, "undo"), [{ op: "undo", session: "a1" }]);
    await button(dialog, "Done").click();
    await dialog.getByText("cairn move /notes /archive/notes").waitFor();
    assert.equal(await dialog.getByText("27 changes").count(), 0, "it is not offered again");
  });
}

test("what a command did is shown with what would stay, and left alone", async () => {
  const page = await here.open({ at: "activity" });
  await button(page, "Undo changes…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^Undo…: cairn move/ }).click();
  await dialog.getByText("/archive/notes moves back to /notes").waitFor();
  await dialog.getByText("/archive/notes/b.md was changed since").waitFor();
  await button(dialog, "Back").click();
  await dialog.getByText("27 changes").waitFor();
  assert.equal((await calls(page, "undo")).length, 0);
});

test("without anything to undo the list says so", async () => {
  const page = await here.open({ scene: "empty", at: "activity" });
  await button(page, "Undo changes…").click();
  await page.getByRole("dialog").getByText("There is nothing to undo.").waitFor();
});

test("all eight assistants can be chosen, and one's configuration is written", async () => {
  const page = await here.open({ at: "settings" });
  const choice = page.getByRole("combobox", { name: "Assistant" });
  assert.deepEqual(await choice.locator("option").allTextContents(), [
    "Claude Desktop",
    "Claude Code",
    "Visual Studio Code",
    "Cursor",
    "Codex",
    "Gemini CLI",
    "Windsurf",
    "Zed",
  ]);
  await choice.selectOption({ label: "Gemini CLI" });
  await button(page, "Add to its configuration").click();
  await page
    .getByText("Added to /home/ada/.config/gemini.json. Restart Gemini CLI to see the tools.")
    .waitFor();
  assert.deepEqual(await calls(page, "install_assistant"), [
    { op: "install_assistant", assistant: "gemini" },
  ]);
  await choice.selectOption({ label: "Zed" });
  assert.equal(await page.getByText("Added to").count(), 0, "that was another program");
});

test("about names version and licence, and saves a bug report without names", async () => {
  const page = await here.open({ at: "settings" });
  const about = page.getByRole("region", { name: "About" });
  await about.getByText("Cairn 0.1.0").waitFor();
  await about.getByText("MIT license or the Apache License 2.0").waitFor();
  await about.getByText("cairn bugreport").waitFor();
  await button(about, "Save bug report…").click();
  await about.getByText(/Saved: \/home\/ada\/cairn-bugreport-.*\.zip/).waitFor();
  const [asked] = await calls(page, "bug_report");
  assert.equal(asked.names, false);
  assert.match(asked.name, /^cairn-bugreport-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.zip$/);
  await page.evaluate(() => window.cairn.fail("bug_report", "can't write there"));
  await button(about, "Save bug report…").click();
  await about.getByRole("alert").getByText("can't write there").waitFor();
});

test("a generated passphrase is copied or printed, and nothing else of the page", async () => {
  const page = await here.open({ at: "settings" });
  await page.evaluate(() => {
    window.printed = 0;
    window.print = () => {
      window.printed += 1;
    };
  });
  await button(page, "Change passphrase…").click();
  const dialog = page.getByRole("dialog");
  await button(dialog, "Generate a passphrase").click();
  const label = "Write it down and keep it in a safe place";
  await button(dialog, `Print…: ${label}`).click();
  assert.equal(await page.evaluate(() => window.printed), 1);
  await button(dialog, `Copy: ${label}`).click();
  const passphrase = "velvet-cargo-ankle-rural-pulse-ghost-tunnel";
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), passphrase);
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((element) => getComputedStyle(element).visibility === "visible" && element.checkVisibility())
      .map((element) => element.textContent.trim())
      .filter(Boolean),
  );
  assert.ok(
    shown.length > 0 && shown.every((text) => `${label}${passphrase}`.includes(text)),
    shown.join("|"),
  );
});

// Shutting a lost device out, keys that another device replaced, and words to compare.
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
const focused = (page) =>
  page.evaluate(() => document.activeElement?.labels?.[0]?.querySelector("span")?.textContent);

test("a lost device is shut out with a new passphrase, and the new recovery key is shown", async () => {
  const page = await here.open({ at: "devices" });
  assert.equal(await button(page, "Shut out…: laptop").count(), 0, "not the one that is used");
  await button(page, "Shut out…: desk").focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Shut out desk?" });
  await dialog.getByText("All keys of your account are replaced.").waitFor();
  await dialog.getByText("Your other devices stop syncing").waitFor();
  assert.equal(await focused(page), "Current passphrase");
  await page.keyboard.type("old words");
  assert.equal(await button(dialog, "Shut out").isDisabled(), true, "not without the new passphrase");
  await button(dialog, "Generate a passphrase").click();
  await dialog.getByRole("textbox", { name: "Write it down and keep it in a safe place" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await button(dialog, "Shut out").click();
  await dialog.getByRole("heading", { name: "desk is shut out" }).waitFor();
  await dialog.getByText("Ask an owner or admin").waitFor();
  await dialog.getByText("the same API key, that key is still valid").waitFor();
  await button(dialog, "Copy: Recovery key").click();
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    "9KHB-W3EN-5RFC-J8ZV-7QX2-M4TD-P6YA-2GUS",
  );
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(await calls(page, "revoke_device"), [
    {
      op: "revoke_device",
      id: "d2",
      choices: {
        passphrase: "old words",
        new_passphrase: "velvet-cargo-ankle-rural-pulse-ghost-tunnel",
        api_keys: true,
      },
    },
  ]);
  await button(dialog, "Done").click();
  await page.getByText("desk", { exact: true }).waitFor({ state: "detached" });
});

test("keeping the passphrase says what that means, and API keys that stay are named", async () => {
  const page = await here.open({ at: "devices" });
  await button(page, "Shut out…: old phone").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Current passphrase").fill("old words");
  await dialog.getByLabel("Keep the passphrase").check();
  await dialog.getByText("The passphrase opens the former keys, too.").waitFor();
  await dialog.getByLabel("Revoke all API keys but that of this device").uncheck();
  await dialog.getByLabel("Current passphrase").focus();
  await page.keyboard.press("Enter");
  await dialog.getByText("These API keys are still valid, on whatever device they are: scanner").waitFor();
  const [asked] = await calls(page, "revoke_device");
  assert.deepEqual(asked.choices, { passphrase: "old words", new_passphrase: null, api_keys: false });
});

test("a new recovery key of which nobody knows whether it works is shown with a warning", async () => {
  const uncertain = "nobody knows whether this key or an earlier one works";
  const page = await here.open({ at: "devices" });
  await button(page, "Shut out…: desk").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Keep the passphrase").check();
  await dialog.getByLabel("Current passphrase").fill("answer lost");
  await button(dialog, "Shut out").click();
  await dialog.getByText(uncertain).waitFor();
  await dialog.getByText("can't write to the disk").waitFor();
  assert.deepEqual(await findings(page), []);
  const settings = await here.open({ at: "settings" });
  await button(settings, "Create a recovery key…").click();
  const form = settings.getByRole("dialog");
  await form.getByLabel("Passphrase").fill("answer lost");
  await button(form, "Create recovery key").click();
  await form.getByRole("alert").getByText(uncertain).waitFor();
  assert.equal(await form.locator(".key code").count(), 8);
  assert.deepEqual(await findings(settings), []);
});

test("a device that was only half shut out stands at the top until that is completed", async () => {
  const page = await here.open({ at: "devices" });
  await button(page, "Shut out…: desk").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Keep the passphrase").check();
  await dialog.getByLabel("Current passphrase").fill("wrong");
  await button(dialog, "Shut out").click();
  await dialog.getByRole("alert").getByText("this is not the passphrase").waitFor();
  await dialog.getByText("desk may be logged out already").waitFor();
  await button(dialog, "Cancel").click();
  await page.getByRole("heading", { name: "desk is not shut out yet" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await button(page, "Complete…").click();
  await dialog.getByLabel("Keep the passphrase").check();
  await dialog.getByLabel("Current passphrase").fill("old words");
  await button(dialog, "Shut out").click();
  await button(dialog, "Done").click();
  await page.getByText("desk is not shut out yet").waitFor({ state: "detached" });
});

for (const at of ["devices", "attention"]) {
  test(`keys that another device replaced are taken over with the passphrase, ${at}`, async () => {
    const page = await here.open({ scene: "replaced", at });
    await button(page, "Enter passphrase…").click();
    const dialog = page.getByRole("dialog", { name: "Use the new keys" });
    assert.equal(await focused(page), "Passphrase");
    await page.evaluate(() => window.cairn.fail("update_keys", "this is not the passphrase"));
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("this is not the passphrase").waitFor();
    assert.deepEqual(await findings(page), []);
    await page.evaluate(() => window.cairn.succeed("update_keys"));
    await dialog.getByLabel("Passphrase").fill("new words");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await button(page, "Enter passphrase…").waitFor({ state: "detached" });
    assert.equal((await calls(page, "update_keys")).at(-1).passphrase, "new words");
  });
}

test("the words of each space are shown in order, and warn while they change", async () => {
  const page = await here.open({ at: "devices" });
  await button(page, "Show words").click();
  const dialog = page.getByRole("dialog", { name: "Compare with another device" });
  const own = dialog.getByRole("region", { name: "Your own files" });
  assert.deepEqual(
    (await own.getByRole("listitem").allTextContents()).map((text) => text.trim()).slice(0, 2),
    ["1 velvet", "2 cargo"],
  );
  assert.equal(await own.getByRole("listitem").count(), 12);
  await dialog
    .getByRole("region", { name: "Team Crew" })
    .getByText("2 more items are not confirmed")
    .waitFor();
  assert.equal(await dialog.getByText("the words change until it is").count(), 0);
  assert.deepEqual(await findings(page), []);
  await page.evaluate(() => window.cairn.push(window.cairn.scenes.busy));
  await button(dialog, "Refresh").click();
  await dialog.getByText("the words change until it is").waitFor();
});

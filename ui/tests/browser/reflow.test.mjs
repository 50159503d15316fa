// In windows of every size, in both languages and both colour schemes, everything stays readable and in reach.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { findings, world } from "./page.mjs";

let here;
before(async () => {
  here = await world();
});
after(() => here.close());
afterEach(() => here.closePages());

/** The smallest size of the window, and the first one (src-tauri/src/shell/gui.rs), and that of a big screen. */
const SMALLEST = { width: 620, height: 440 };
const SIZES = [SMALLEST, { width: 980, height: 700 }, { width: 1600, height: 1000 }];

/** Scene, page. */
const VIEWS = [
  ["busy", "overview"],
  ["attention", "overview"],
  ["idle", "activity"],
  ["burst", "activity"],
  ["idle", "links"],
  ["idle", "trash"],
  ["idle", "devices"],
  ["replaced", "devices"],
  ["replaced", "attention"],
  ["attention", "attention"],
  ["encrypted", "attention"],
  ["team", "folders"],
  ["idle", "folders"],
  ["idle", "settings"],
  ["out", "setup"],
];

/** Controls that stick out, texts that overlap, and names of which hardly anything is left. */
function broken() {
  const out = [];
  const name = (element) => `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 40)}"`;
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1;
  };
  const main = document.querySelector("dialog[open]") ?? document.querySelector("main");
  const edge = main.getBoundingClientRect().right;
  if (main.scrollWidth > main.clientWidth) out.push("the page scrolls sideways");
  for (const control of main.querySelectorAll("button, input, select, textarea")) {
    if (!shown(control)) continue;
    if (control.getBoundingClientRect().right > edge) out.push(`${name(control)} sticks out`);
    if (control.scrollWidth > control.clientWidth + 1 && control.tagName === "BUTTON")
      out.push(`${name(control)} is cut off`);
  }
  for (const row of main.querySelectorAll(".entry, .card.row")) {
    const parts = [...row.children].filter(shown).map((part) => [part, part.getBoundingClientRect()]);
    for (const [at, [one, a]] of parts.entries()) {
      for (const [other, b] of parts.slice(at + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 1) out.push(`${name(one)} lies over ${name(other)}`);
      }
    }
  }
  for (const path of main.querySelectorAll(".path, strong.cut")) {
    if (shown(path) && path.clientWidth < Math.min(path.scrollWidth, 200))
      out.push(`${name(path)} is too narrow`);
  }
  for (const time of main.querySelectorAll(".meta")) {
    if (time.scrollWidth > time.clientWidth + 1) out.push(`${name(time)} is cut off`);
  }
  return out;
}

/** Language, colour scheme: all of them where there is least room, and each once elsewhere. */
const looks = (viewport) => [
  ["en", "light"],
  ["de", "dark"],
  ...(viewport === SMALLEST
    ? [
        ["en", "dark"],
        ["de", "light"],
      ]
    : []),
];

for (const [scene, at] of VIEWS) {
  for (const viewport of SIZES) {
    test(`${at} while ${scene} at ${viewport.width} × ${viewport.height}`, async () => {
      for (const [lang, scheme] of looks(viewport)) {
        const page = await here.open({ scene, at, lang, scheme, viewport });
        await page.locator("h1").first().waitFor();
        await page.waitForLoadState("networkidle");
        assert.deepEqual(await page.evaluate(broken), [], `${lang}, ${scheme}`);
        assert.deepEqual(await findings(page), [], `${lang}, ${scheme}`);
        await page.context().close();
      }
    });
  }
}

for (const viewport of SIZES) {
  test(`the page of a folder at ${viewport.width} × ${viewport.height}`, async () => {
    for (const [lang, scheme] of looks(viewport)) {
      const page = await here.open({ scene: "attention", at: "folders", lang, scheme, viewport });
      const opener = lang === "de" ? "Details zu Pictures" : "Details of Pictures";
      await page.getByRole("button", { name: opener, exact: true }).click();
      await page.getByRole("heading", { name: "Pictures", level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      assert.deepEqual(await page.evaluate(broken), [], `${lang}, ${scheme}`);
      assert.deepEqual(await findings(page), [], `${lang}, ${scheme}`);
      const chooser = lang === "de" ? "Unterordner auswählen …" : "Select subfolders…";
      await page.getByRole("button", { name: chooser, exact: true }).click();
      await page.getByText(/GiB (of|von) 40 GiB/).waitFor();
      assert.deepEqual(await page.evaluate(broken), [], `selection, ${lang}, ${scheme}`);
      await page.context().close();
    }
  });
}

/** The names of the pages beside the first one: German ones are the longest, and some have a number behind them. */
test("the names of the pages are whole", async () => {
  for (const lang of ["en", "de"]) {
    // The name of the page that is open is bold, and so a little longer.
    const page = await here.open({ scene: "attention", at: "attention", lang });
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll("nav button, nav .name, nav .count")]
        .filter((part) => {
          const edge = part.closest("nav").getBoundingClientRect().right;
          return part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > edge;
        })
        .map((part) => part.textContent),
    );
    assert.deepEqual(cut, [], lang);
    await page.context().close();
  }
});

for (const [scene, at, opener] of [
  ["attention", "attention", "Vergleichen: notes/plan.md"],
  ["encrypted", "attention", "Überschreiben"],
  ["encrypted", "attention", "Verlauf von Pictures"],
  ["team", "folders", "Ordner hinzufügen"],
  ["idle", "folders", "Ordner hinzufügen"],
  ["idle", "folders", "Verlauf von Pictures"],
  ["idle", "folders", "Freigabelink für Pictures"],
  ["idle", "activity", "Versionen …: reports/annual report 2026.pdf"],
  ["idle", "links", "Neuer Freigabelink …"],
  ["idle", "devices", "Entfernen: desk"],
  ["idle", "devices", "Aussperren …: desk"],
  ["idle", "devices", "Wörter anzeigen"],
  ["replaced", "devices", "Passphrase eingeben …"],
  ["attention", "attention", "Warum?: private/key.pem"],
  ["idle", "activity", "Warum?: src/main.rs"],
  ["idle", "activity", "Änderungen zurücknehmen …"],
  ["idle", "settings", "Passphrase ändern …"],
]) {
  test(`dialog "${opener}" in the smallest window`, async () => {
    const page = await here.open({ scene, at, lang: "de", viewport: SMALLEST });
    await page.getByRole("button", { name: opener, exact: true }).first().click();
    await page.getByRole("dialog").waitFor();
    await page.waitForLoadState("networkidle");
    assert.deepEqual(await page.evaluate(broken), []);
    await page.context().close();
  });
}

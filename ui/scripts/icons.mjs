// Draws the PNGs of icons/ from their SVG sources, in Debian's Chromium.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";

const icons = join(dirname(fileURLToPath(import.meta.url)), "../../icons");
const TRAY = 64;
const APP = [32, 48, 64, 128, 256, 512];

const browser = await launch();
const page = await browser.newPage();

async function draw(source, size, target) {
  await page.setViewportSize({ width: size, height: size });
  const svg = readFileSync(source, "utf8").replace(
    /width="64" height="64"/,
    `width="${size}" height="${size}"`,
  );
  await page.setContent(`<style>*{margin:0;padding:0}svg{display:block}</style>${svg}`);
  await page.screenshot({
    path: target,
    omitBackground: true,
    clip: { x: 0, y: 0, width: size, height: size },
  });
}

for (const name of readdirSync(join(icons, "tray"))) {
  if (name.endsWith(".svg")) {
    await draw(join(icons, "tray", name), TRAY, join(icons, "tray", name.replace(".svg", ".png")));
  }
}
for (const size of APP) {
  await draw(join(icons, "app.svg"), size, join(icons, `app-${size}.png`));
}
await browser.close();

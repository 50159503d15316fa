// Starts the Chromium that the system has: browsers aren't downloaded.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function launch() {
  const executablePath = process.env.CAIRN_CHROMIUM ?? PLACES.find((path) => existsSync(path));
  if (!executablePath) {
    throw new Error("no Chromium found: install it, or name it in CAIRN_CHROMIUM");
  }
  // Its sandbox refuses to run as root, as in a container; the pages are our own.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

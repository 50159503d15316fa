// Serves the mock build and opens pages of it in Chromium.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../../scripts/chromium.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../dist-mock");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** A browser and a server; `open` gives a page that shows a scene, `closePages` ends all that are open. */
export async function world() {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = join(root, path === "/" ? "index.html" : path);
    if (!file.startsWith(root) || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    createReadStream(file).pipe(response);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const browser = await launch();
  const contexts = [];
  // Pages go on working: a hundred of them slow the next ones down.
  const closePages = () => Promise.all(contexts.splice(0).map((context) => context.close()));
  return {
    closePages,
    async open({
      scene = "idle",
      at = "",
      scheme = "light",
      lang = "en",
      rows = 60,
      later = true,
      known = false,
      motion = "reduce",
      viewport = { width: 980, height: 700 },
    } = {}) {
      const context = await browser.newContext({
        viewport,
        colorScheme: scheme,
        reducedMotion: motion,
        timezoneId: "UTC",
        locale: "en-GB",
        permissions: ["clipboard-read", "clipboard-write"],
      });
      contexts.push(context);
      const page = await context.newPage();
      page.errors = [];
      page.on("pageerror", (error) => page.errors.push(String(error)));
      page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
      const query = new URLSearchParams({
        scene,
        lang,
        rows: String(rows),
        ...(later ? { later: "1" } : {}),
        ...(known ? { known: "1" } : {}),
      });
      await page.goto(`http://127.0.0.1:${server.address().port}/?${query}#${at}`);
      await page.locator("main").waitFor();
      await page.waitForFunction(() => window.cairn.calls.some((call) => call.op === "start"));
      return page;
    },
    async close() {
      await closePages();
      await browser.close();
      await new Promise((done) => server.close(done));
    },
  };
}

/** What axe finds on the page, as readable lines. */
export async function findings(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return result.violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.target.join(" ")}: ${node.failureSummary}`),
  );
}

/** The requests that the page has made, of one kind. */
export function calls(page, op) {
  return page.evaluate((wanted) => window.cairn.calls.filter((call) => call.op === wanted), op);
}

// A private desktop with the real program on it: X display and D-Bus session are the caller's
// (`cargo xtask test` starts them), folders are made here. Waits are for events, with a time limit.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LIMIT = 60_000;
/** Between two looks at something that doesn't tell by itself. */
const LOOK = 100;
/** Longer waits are told: something may be slower than it should be. */
const SLOW = 5_000;

const bins = {
  tray: required("CAIRN_TRAY_BIN"),
  cairn: required("CAIRN_BIN"),
  server: required("CAIRN_SERVER_BIN"),
};

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} names no program: run these tests with \`cargo xtask test\``);
  return value;
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits until `look` gives something true, and gives that. */
export async function until(what, look, limit = LIMIT) {
  const begun = Date.now();
  const end = begun + limit;
  let last;
  for (;;) {
    try {
      const found = await look();
      if (found) {
        const took = Date.now() - begun;
        if (took > SLOW) console.log(`${(took / 1000).toFixed(0)} s until: ${what}`);
        return found;
      }
      last = found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(`not within ${limit / 1000} s: ${what} (last: ${last?.message ?? last})`);
    await pause(LOOK);
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Everything that one test file starts; `close` ends it. */
export class World {
  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), "cairn-tray-"));
    this.children = [];
    const place = (name) => {
      const path = join(this.dir, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    };
    this.env = {
      ...process.env,
      HOME: place("user"),
      XDG_RUNTIME_DIR: place("run"),
      XDG_CONFIG_HOME: place("config"),
      XDG_DATA_HOME: place("data"),
      XDG_STATE_HOME: place("state"),
      XDG_CACHE_HOME: place("cache"),
      XDG_CURRENT_DESKTOP: "XFCE",
      GDK_BACKEND: "x11",
      LIBGL_ALWAYS_SOFTWARE: "1",
      NO_AT_BRIDGE: "1",
      LANG: "C.UTF-8",
      // The fewest that every client accepts: tests wait for each login.
      CAIRN_KDF_MEMORY_MIB: "64",
      CAIRN_KDF_ITERATIONS: "600000",
    };
    for (const name of ["CAIRN_API_KEY", "CAIRN_HOME", "WAYLAND_DISPLAY"]) delete this.env[name];
    this.home = place("home");
    this.folder = place("folder");
  }

  path(name) {
    return join(this.dir, name);
  }

  start(program, args = [], options = {}) {
    const child = spawn(program, args, { env: this.env, stdio: ["ignore", "pipe", "pipe"], ...options });
    child.output = "";
    child.stdout?.on("data", (data) => {
      child.output += data;
    });
    child.stderr?.on("data", (data) => {
      child.output += data;
    });
    child.ended = once(child, "exit").then(([code]) => code);
    this.children.push(child);
    return child;
  }

  /** A window manager and a panel that shows tray icons. */
  async panel() {
    const config = join(this.env.XDG_CONFIG_HOME, "xfce4/xfconf/xfce-perchannel-xml");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "xfce4-panel.xml"), PANEL);
    this.start("openbox");
    this.start("xfce4-panel");
    await until(
      "a panel that shows tray icons",
      () =>
        this.bus("get-property", WATCHER, "/StatusNotifierWatcher", WATCHER, "IsStatusNotifierHostRegistered")
          .data,
    );
  }

  bus(...args) {
    const text = execFileSync("busctl", ["--user", "--json=short", ...args], {
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return text.length ? JSON.parse(text) : null;
  }

  async server() {
    const child = this.start(bins.server, ["serve", "--listen", "127.0.0.1:0", "--ephemeral", "--dev"]);
    const greeting = await until("the server's greeting", () =>
      child.output.match(/listening on (http:\S+)/),
    );
    this.url = greeting[1];
    return child;
  }

  /** Runs the command line of this home, or of another one; gives its document. */
  cairn(...args) {
    return this.cairnAt(this.home, ...args);
  }

  cairnAt(home, ...args) {
    const text = execFileSync(bins.cairn, ["--home", home, "--json", ...args], {
      env: { ...this.env, CAIRN_API_KEY: "ck_dev_owner" },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    });
    return text ? JSON.parse(text) : null;
  }

  /** Logs a home in without the window. */
  logIn(home, name) {
    const secret = this.path(`passphrase-${name}`);
    writeFileSync(secret, "correct horse battery staple\n");
    return this.cairnAt(
      home,
      "login",
      "--server",
      this.url,
      "--secrets",
      "file",
      "--passphrase-file",
      secret,
      "--device-name",
      name,
    );
  }

  trayArguments(...more) {
    return ["--home", this.home, "--cairn", bins.cairn, ...more];
  }

  /** Starts the tray without a driver. */
  tray(...more) {
    return this.start(bins.tray, this.trayArguments(...more));
  }

  /** Ends the trays that a test has left, also one that a web driver started: the next test's would only
   * show their window, and its driver would wait for one of its own. The bus notices an end a little
   * later. */
  async endTrays() {
    await until("the end of the trays", () => {
      const left = processes((args) => args[0] === bins.tray && args.includes(this.home));
      for (const pid of left) terminate(pid);
      return left.length === 0 && !this.bus("list").some(({ name }) => name.endsWith(".SingleInstance"));
    });
  }

  /** Starts the tray with its window open and steered. `more` are the arguments that open it. */
  async driven(...more) {
    const port = await freePort();
    this.start("WebKitWebDriver", [`--port=${port}`], {
      env: { ...this.env, TAURI_WEBVIEW_AUTOMATION: "true" },
    });
    const base = `http://127.0.0.1:${port}`;
    await until("the web driver", async () => (await fetch(`${base}/status`)).ok);
    return Window.open(base, bins.tray, this.trayArguments(...(more.length > 0 ? more : ["--show"])));
  }

  /** The tray's item: its bus name and its menu. */
  async item() {
    return until("the tray's icon in the panel", () => {
      const items = this.bus(
        "get-property",
        WATCHER,
        "/StatusNotifierWatcher",
        WATCHER,
        "RegisteredStatusNotifierItems",
      ).data;
      for (const found of items.filter((item) => item.includes("tray_icon"))) {
        const slash = found.indexOf("/");
        const item = { name: found.slice(0, slash), path: found.slice(slash) };
        try {
          this.icon(item);
          return item;
        } catch {
          // The panel has not yet noticed that this one's program has ended.
        }
      }
      return null;
    });
  }

  icon(item) {
    return this.bus("get-property", item.name, item.path, "org.kde.StatusNotifierItem", "IconName").data;
  }

  /** The menu's entries, those of submenus too: id, label, enabled. */
  menu(item) {
    const layout = this.bus(
      "call",
      item.name,
      `${item.path}/Menu`,
      "com.canonical.dbusmenu",
      "GetLayout",
      "iias",
      "0",
      "--",
      "-1",
      "0",
    ).data[1];
    const entries = [];
    const walk = (node) => {
      const [id, properties, below] = node.data ?? node;
      const text = (name) => properties[name]?.data;
      entries.push({ id, label: text("label") ?? "", enabled: text("enabled") !== false });
      below.forEach(walk);
    };
    walk(layout);
    return entries;
  }

  async click(item, label) {
    const entry = await until(`the entry "${label}"`, () =>
      this.menu(item).find((found) => found.label === label),
    );
    this.bus(
      "call",
      item.name,
      `${item.path}/Menu`,
      "com.canonical.dbusmenu",
      "Event",
      "isvu",
      String(entry.id),
      "clicked",
      "i",
      "0",
      "0",
    );
  }

  /** Types into the system's own dialogs. */
  xdo(...args) {
    return execFileSync("xdotool", args, {
      env: this.env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  }

  /** Visible windows of a title. */
  windows(title) {
    try {
      return this.xdo("search", "--onlyvisible", "--name", title).split("\n").filter(Boolean);
    } catch {
      return [];
    }
  }

  /** Prints the last output of all programs: a web driver says no more than that its session has ended. */
  report() {
    for (const { spawnfile, exitCode, signalCode, output } of this.children) {
      console.log(`${spawnfile}, ${exitCode ?? signalCode ?? "running"}: ${output.slice(-2_000)}`);
    }
  }

  async close() {
    try {
      this.cairn("stop");
    } catch {
      // It was not running.
    }
    for (const child of this.children.reverse()) {
      if (child.exitCode === null) child.kill("SIGTERM");
    }
    await Promise.race([Promise.all(this.children.map((child) => child.ended)), pause(5_000)]);
    for (const child of this.children) {
      if (child.exitCode === null) child.kill("SIGKILL");
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The window, steered over WebDriver. */
export class Window {
  static async open(base, binary, args) {
    const window = new Window();
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": { binary, args } } };
    const created = await window.post(`${base}/session`, { capabilities });
    window.session = `${base}/session/${created.sessionId}`;
    return window;
  }

  async post(url, body) {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(value?.message || value?.error || String(response.status));
    return value;
  }

  script(text, ...args) {
    return this.post(`${this.session}/execute/sync`, { script: text, args });
  }

  /** Goes on with the window that is open now. */
  async follow() {
    const handles = await until("an open window", async () => {
      const { value } = await (await fetch(`${this.session}/window/handles`)).json();
      return value?.length ? value : null;
    });
    await this.post(`${this.session}/window`, { handle: handles.at(-1) });
  }

  async find(xpath, limit) {
    const found = await until(
      `the element ${xpath}`,
      () => this.post(`${this.session}/element`, { using: "xpath", value: xpath }),
      limit,
    );
    return Object.values(found)[0];
  }

  async click(xpath) {
    await until(`a click on ${xpath}`, async () => {
      const element = await this.find(xpath, 1000);
      await this.post(`${this.session}/element/${element}/click`, {});
      return true;
    });
  }

  button(name) {
    return this.click(`//button[@aria-label="${name}" or normalize-space()="${name}"][not(@disabled)]`);
  }

  async type(label, text) {
    const element = await this.find(`//label[normalize-space(span)="${label}"]//input`);
    await this.post(`${this.session}/element/${element}/clear`, {});
    await this.post(`${this.session}/element/${element}/value`, { text });
  }

  see(text, limit) {
    return this.find(`//*[contains(normalize-space(text()), "${text}")]`, limit);
  }

  text(selector) {
    return this.script("return document.querySelector(arguments[0])?.textContent", selector);
  }

  async end() {
    await fetch(this.session, { method: "DELETE" }).catch(() => undefined);
  }
}

/** The processes whose arguments are as wanted. */
function processes(isWanted) {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return isWanted(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0"));
      } catch {
        return false; // It has ended meanwhile.
      }
    })
    .map(Number);
}

function terminate(pid) {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
}

/** The processes below a process, itself too, as the kernel lists them. */
export function family(pid) {
  const parents = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const members = [pid];
  for (const member of members) {
    for (const [child, parent] of parents) if (parent === member) members.push(child);
  }
  return members;
}

/** Resident memory of processes in MiB. */
export function memory(pids) {
  const pages = pids.map((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    } catch {
      return 0;
    }
  });
  return (pages.reduce((sum, some) => sum + some, 0) * 4096) / 1024 / 1024;
}

const WATCHER = "org.kde.StatusNotifierWatcher";
const PANEL = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array"><value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="32"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray"/>
  </property>
</channel>
`;

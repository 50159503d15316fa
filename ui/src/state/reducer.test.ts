import { expect, test } from "vitest";
import type { ActivityView, Settings, View } from "../bindings";
import { fileOf, initial, MAX_ROWS, pageOf, reduce } from "./reducer";

const settings: Settings = {
  language: null,
  icon: "light",
  notify: { conflict: true, question: true, error: true, done: true },
  setup_left: false,
};

const view: View = {
  connection: "up",
  state: "idle",
  headline: "Up to date",
  pending: 0,
  speed: 0,
  folders: [],
  transfers: [],
  conflicts: [],
  attention: 0,
};

const row = (path: string): ActivityView => ({
  at: "2026-01-02T03:04:05Z",
  kind: "uploaded",
  path,
  folder: "/f",
  bytes: 1,
});

test("an address names a page, and nonsense is the overview", () => {
  expect(pageOf("#attention")).toBe("attention");
  expect(pageOf("#<script>")).toBe("overview");
  expect(pageOf("")).toBe("overview");
});

test("an address asks about a file, and nonsense about none", () => {
  const file = { dialog: "why", path: "/f/50% #1.txt" };
  expect(fileOf("#why:/f/50%25%20%231.txt")).toEqual(file);
  expect(initial("#why:/f/50%25%20%231.txt").page).toBe("overview");
  for (const hash of ["", "#attention", "#frob:/f", "#why:%", "#why"]) expect(fileOf(hash)).toBe(null);
  const open = reduce(initial("#attention"), { type: "file", file: { dialog: "share", path: "/f/a" } });
  expect([open.page, open.file?.path]).toEqual(["attention", "/f/a"]);
  expect(reduce(open, { type: "file", file: null }).file).toBe(null);
});

test("setting up is offered once, and never to who left it for later", () => {
  const out: View = { ...view, connection: "logged_out" };
  const start = { version: "1", language: "en" as const, settings };
  const started = reduce(initial(""), { type: "started", start });
  const offered = reduce(started, { type: "view", view: out });
  expect(offered.page).toBe("setup");
  const left = reduce(offered, { type: "page", page: "overview" });
  expect(reduce(left, { type: "view", view: out }).page).toBe("overview");
  const later = { ...start, settings: { ...settings, setup_left: true } };
  const quiet = reduce(initial(""), { type: "started", start: later });
  expect(reduce(quiet, { type: "view", view: out }).page).toBe("overview");
});

test("the page of a folder is left by going to any page", () => {
  const open = reduce(initial(""), { type: "page", page: "folders", folder: "/f" });
  expect([open.page, open.folder]).toEqual(["folders", "/f"]);
  const list = reduce(open, { type: "page", page: "folders" });
  expect([list.page, list.folder]).toEqual(["folders", null]);
});

test("rows that came during the fetch stand once, the newest first", () => {
  let state = initial("");
  state = reduce(state, { type: "rows", rows: [row("c"), row("b")] });
  state = reduce(state, { type: "history", rows: [row("b"), row("a")] });
  expect(state.rows.map((r) => r.path)).toEqual(["c", "b", "a"]);
  state = reduce(state, { type: "rows", rows: [row("d")] });
  expect(state.rows[0]?.path).toBe("d");
  expect(state.rowsLoaded).toBe(true);
});

test("a window that stays open for weeks keeps a bounded list", () => {
  const many = Array.from({ length: MAX_ROWS }, (_, n) => row(String(n)));
  let state = reduce(initial(""), { type: "history", rows: many });
  state = reduce(state, { type: "rows", rows: [row("new")] });
  expect(state.rows.length).toBe(MAX_ROWS);
  expect(state.rows[0]?.path).toBe("new");
});

// The state of the window, and how each action changes it. Pure: no clock, no calls.
import {
  type ActivityView,
  FILE_DIALOGS,
  type FileRequest,
  type Language,
  type LoginStep,
  PAGES,
  type Page,
  type Settings,
  type StartInfo,
  type View,
} from "../bindings";

export interface State {
  readonly view: View | null;
  readonly page: Page;
  /** The local path of the folder whose page is open, on the page of the folders. */
  readonly folder: string | null;
  /** The dialog about a file that a file manager asked for. */
  readonly file: FileRequest | null;
  readonly language: Language;
  readonly settings: Settings | null;
  readonly version: string;
  /** The last step of the present login. */
  readonly loginStep: LoginStep | null;
  /** The newest first. */
  readonly rows: readonly ActivityView[];
  /** True if the rows from before the window was opened have been fetched. */
  readonly rowsLoaded: boolean;
}

export type Action =
  | { type: "started"; start: StartInfo }
  | { type: "view"; view: View }
  | { type: "rows"; rows: readonly ActivityView[] }
  | { type: "history"; rows: readonly ActivityView[] }
  | { type: "page"; page: Page; folder?: string }
  | { type: "file"; file: FileRequest | null }
  | { type: "login_step"; step: LoginStep | null }
  | { type: "settings"; settings: Settings; language: Language };

/** The most rows in memory: a window may stay open for weeks. */
export const MAX_ROWS = 100_000;

export function pageOf(hash: string): Page {
  const word = hash.replace(/^#/, "");
  return PAGES.find((page) => page === word) ?? "overview";
}

/** The dialog that an address asks for: its name, `:`, and the path, percent-encoded. */
export function fileOf(hash: string): FileRequest | null {
  const [, word, encoded = ""] = /^#([a-z]+):(.*)$/.exec(hash) ?? [];
  const dialog = FILE_DIALOGS.find((name) => name === word);
  if (!dialog) return null;
  try {
    return { dialog, path: decodeURIComponent(encoded) };
  } catch {
    return null;
  }
}

export function initial(hash: string): State {
  return {
    view: null,
    page: pageOf(hash),
    folder: null,
    file: fileOf(hash),
    language: "en",
    settings: null,
    version: "",
    loginStep: null,
    rows: [],
    rowsLoaded: false,
  };
}

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "started": {
      const { language, settings, version } = action.start;
      return { ...state, language, settings, version };
    }
    case "view":
      return { ...state, view: action.view, page: pageFor(state, action.view) };
    case "rows":
      return { ...state, rows: [...action.rows, ...state.rows].slice(0, MAX_ROWS) };
    case "history":
      return { ...state, rows: merge(state.rows, action.rows), rowsLoaded: true };
    case "login_step":
      return { ...state, loginStep: action.step };
    case "page":
      return { ...state, page: action.page, folder: action.folder ?? null };
    case "file":
      return { ...state, file: action.file };
    case "settings":
      return { ...state, settings: action.settings, language: action.language };
  }
}

/** A device that is not logged in is offered the setup once, when the window opens. */
function pageFor(state: State, view: View): Page {
  const first = state.view === null;
  const wanted = view.connection === "logged_out" && state.settings?.setup_left !== true;
  return first && wanted && state.page === "overview" ? "setup" : state.page;
}

/** Rows that came while the older ones were being fetched are in both. */
function merge(live: readonly ActivityView[], history: readonly ActivityView[]): ActivityView[] {
  const known = new Set(history.map(key));
  return [...live.filter((row) => !known.has(key(row))), ...history].slice(0, MAX_ROWS);
}

function key(row: ActivityView): string {
  return `${row.at}\n${row.kind}\n${row.folder ?? ""}\n${row.path}`;
}

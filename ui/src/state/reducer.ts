// What the window knows, and how each thing that happens changes it. Pure: no clock, no requests.
import type { ActivityView, Language, Place, Settings, Start, View } from "../types";

export interface State {
  readonly view: View | null;
  readonly place: Place;
  readonly language: Language;
  readonly settings: Settings | null;
  readonly version: string;
  /** The newest first. */
  readonly rows: readonly ActivityView[];
  /** The rows from before the window was opened are there. */
  readonly rowsLoaded: boolean;
}

export type Happening =
  | { type: "started"; start: Start }
  | { type: "view"; view: View }
  | { type: "rows"; rows: readonly ActivityView[] }
  | { type: "history"; rows: readonly ActivityView[] }
  | { type: "place"; place: Place }
  | { type: "settings"; settings: Settings; language: Language };

/** More than anybody scrolls through; a bound for a window that stays open for weeks. */
export const MAX_ROWS = 100_000;

const PLACES: readonly Place[] = ["overview", "activity", "attention", "folders", "settings", "setup"];

export function placeOf(hash: string): Place {
  const word = hash.replace(/^#/, "");
  return PLACES.find((place) => place === word) ?? "overview";
}

export function initial(hash: string): State {
  return {
    view: null,
    place: placeOf(hash),
    language: "en",
    settings: null,
    version: "",
    rows: [],
    rowsLoaded: false,
  };
}

export function reduce(state: State, happening: Happening): State {
  switch (happening.type) {
    case "started": {
      const { language, settings, version } = happening.start;
      return { ...state, language, settings, version };
    }
    case "view":
      return { ...state, view: happening.view, place: placeFor(state, happening.view) };
    case "rows":
      return { ...state, rows: [...happening.rows, ...state.rows].slice(0, MAX_ROWS) };
    case "history":
      return { ...state, rows: merge(state.rows, happening.rows), rowsLoaded: true };
    case "place":
      return { ...state, place: happening.place };
    case "settings":
      return { ...state, settings: happening.settings, language: happening.language };
  }
}

/** A device that is not logged in is offered the setup once, when the window opens. */
function placeFor(state: State, view: View): Place {
  const first = state.view === null;
  const wanted = view.link === "logged_out" && state.settings?.setup_left !== true;
  return first && wanted && state.place === "overview" ? "setup" : state.place;
}

/** Rows that came while the older ones were being fetched are in both. */
function merge(live: readonly ActivityView[], history: readonly ActivityView[]): ActivityView[] {
  const known = new Set(history.map(key));
  return [...live.filter((row) => !known.has(key(row))), ...history].slice(0, MAX_ROWS);
}

function key(row: ActivityView): string {
  return `${row.at}\n${row.kind}\n${row.folder ?? ""}\n${row.path}`;
}

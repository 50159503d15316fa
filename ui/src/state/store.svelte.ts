// The one store: holds the state, and passes what happens to the reducer.
import { ask, hear, reason } from "../bridge";
import type { Place, Settings } from "../types";
import { pickLanguage } from "../words";
import { type Happening, initial, reduce } from "./reducer";

/** Rows fetched when the list is first shown. */
const HISTORY = 20_000;

let state = $state.raw(initial(window.location.hash));
let note = $state("");
let trouble = $state("");

function happen(happening: Happening): void {
  state = reduce(state, happening);
}

export const store = {
  get now() {
    return state;
  },
  /** A word for the live region: something was done. */
  get note() {
    return note;
  },
  /** Why the last order failed; empty when it didn't. */
  get trouble() {
    return trouble;
  },
  say(text: string): void {
    note = text;
  },
  forgive(): void {
    trouble = "";
  },
  go(place: Place): void {
    happen({ type: "place", place });
    trouble = "";
  },
  /** Carries out an order; a failure is shown until it is forgiven. True if it worked. */
  async order(work: () => Promise<unknown>): Promise<boolean> {
    trouble = "";
    try {
      await work();
      return true;
    } catch (error) {
      trouble = reason(error);
      return false;
    }
  },
  async loadHistory(): Promise<void> {
    if (state.rowsLoaded || state.view?.link !== "up") {
      return;
    }
    await store.order(async () => happen({ type: "history", rows: await ask.activity(HISTORY) }));
  },
  async keepSettings(settings: Settings): Promise<boolean> {
    const kept = await store.order(() => ask.setSettings(settings));
    if (kept) {
      const language = settings.language ?? pickLanguage(navigator.language);
      happen({ type: "settings", settings, language });
    }
    return kept;
  },
};

export async function begin(): Promise<void> {
  await hear({
    view: (view) => happen({ type: "view", view }),
    activity: (rows) => happen({ type: "rows", rows }),
    place: (place) => happen({ type: "place", place }),
  });
  await store.order(async () => happen({ type: "started", start: await ask.start() }));
}

// The one store: holds the state, and passes actions to the reducer.

import type { Page, Settings } from "../bindings";
import { api, errorMessage, subscribe } from "../bridge";
import { pickLanguage } from "../i18n";
import { type Action, initial, reduce } from "./reducer";

/** Rows fetched when the list is first shown. */
const HISTORY = 20_000;

let state = $state.raw(initial(window.location.hash));
let announcement = $state("");
let error = $state("");

function dispatch(action: Action): void {
  state = reduce(state, action);
}

export const store = {
  get state() {
    return state;
  },
  /** A text for the live region: something was done. */
  get announcement() {
    return announcement;
  },
  /** The reason why the last request failed; empty if it succeeded. */
  get error() {
    return error;
  },
  announce(text: string): void {
    announcement = text;
  },
  dismissError(): void {
    error = "";
  },
  /** Forgets the steps of an older login. */
  resetLogin(): void {
    dispatch({ type: "login_step", step: null });
  },
  go(page: Page): void {
    dispatch({ type: "page", page });
    error = "";
  },
  /** Opens the page of one folder. */
  goFolder(folder: string): void {
    dispatch({ type: "page", page: "folders", folder });
    error = "";
  },
  /** Leaves the dialog about a file that a file manager asked for. */
  leaveFile(): void {
    dispatch({ type: "file", file: null });
  },
  /** Runs a request; its error is shown until it is dismissed. True if it succeeded. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    error = "";
    try {
      await work();
      return true;
    } catch (failure) {
      error = errorMessage(failure);
      return false;
    }
  },
  async loadHistory(): Promise<void> {
    if (state.rowsLoaded || state.view?.connection !== "up") {
      return;
    }
    await store.run(async () => dispatch({ type: "history", rows: await api.activity(HISTORY) }));
  },
  async saveSettings(settings: Settings): Promise<boolean> {
    const saved = await store.run(() => api.setSettings(settings));
    if (saved) {
      const language = settings.language ?? pickLanguage(navigator.language);
      dispatch({ type: "settings", settings, language });
    }
    return saved;
  },
};

export async function start(): Promise<void> {
  await subscribe({
    view: (view) => dispatch({ type: "view", view }),
    activity: (rows) => dispatch({ type: "rows", rows }),
    login_step: (step) => dispatch({ type: "login_step", step }),
    page: (page) => dispatch({ type: "page", page }),
    file: (file) => dispatch({ type: "file", file }),
  });
  await store.run(async () => dispatch({ type: "started", start: await api.start() }));
}

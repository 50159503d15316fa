// The one file that uses the Tauri API: calls of the tray program (the Rust side of the window), and its events.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import { COMMAND, createApi, EVENT, type ProgramError, type WindowEvent } from "./bindings";

export const api = createApi((call) => invoke(COMMAND, { call }));

/** One function for each kind of event. */
export type Handlers = {
  [E in WindowEvent as E["event"]]: (payload: E["payload"]) => void;
};

/** Calls the handlers with the events of the program. */
export async function subscribe(handlers: Handlers): Promise<void> {
  await listen<WindowEvent>(EVENT, ({ payload: message }) => {
    switch (message.event) {
      case "view":
        return handlers.view(message.payload);
      case "activity":
        return handlers.activity(message.payload);
      case "login_step":
        return handlers.login_step(message.payload);
      case "page":
        return handlers.page(message.payload);
      case "file":
        return handlers.file(message.payload);
    }
  });
}

/** True if a call ended because the person cancelled it. */
export function isCancelled(error: unknown): boolean {
  return (error as Partial<ProgramError> | null)?.code === "cancelled";
}

/** The message of a failed call, for a person. */
export function errorMessage(error: unknown): string {
  const fault = error as Partial<ProgramError> | null;
  return typeof fault?.message === "string" ? fault.message : String(error);
}

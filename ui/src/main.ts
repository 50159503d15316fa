// Starts the window's page.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";

if (import.meta.env.MODE === "mock") {
  await import("./mocks");
}

const target = document.getElementById("app");
if (target) {
  mount(App, { target });
}

import { live } from "./page-state.js";

// A script of its own, small, so that the questions are on their way while the rest of the page is loaded.
live.restart();

/** Milliseconds after which a page that nobody sees gives its connection back: a browser has few for each host. */
const unseen = 30_000;
let leaving: ReturnType<typeof setTimeout> | undefined;

document.addEventListener("visibilitychange", () => {
  clearTimeout(leaving);
  if (document.hidden) leaving = setTimeout(() => live.pause(), unseen);
  else if (live.isPaused) live.restart();
});

import { rm } from "node:fs/promises";
import { isRecord } from "../../sdk/event.js";
import { reasonOf } from "../../sdk/index.js";
import type { DevSettings } from "./dev-agent.js";
import { type DevRun, startDevRun } from "./dev-run.js";

// The process of the agent of `deneb plugin dev`. It gets its settings as the first message, `post` as a further one, and
// stops at the message `stop`, or when its parent has ended.

/** Milliseconds after which a process whose plugin does not stop ends without a parent. */
const longestStop = 5000;

const stopping = new AbortController();
let run: DevRun | undefined;
let temporary: string | undefined;

// A terminal sends the signal to all its processes; the parent decides when this one ends.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => stopping.abort());
process.on("disconnect", () => {
  stopping.abort();
  setTimeout(() => process.exit(1), longestStop).unref();
});
process.on("unhandledRejection", (error) => console.error(`unhandled rejection: ${reasonOf(error)}`));
process.on("message", (message) => {
  if (message === "post") run?.post();
  else if (message === "stop") stopping.abort();
  else if (isSettings(message)) void begin(message);
});

async function begin(settings: DevSettings): Promise<void> {
  temporary = settings.temporary;
  const print = (line: string) => console.log(line);
  try {
    run = await startDevRun(settings, { print, signal: stopping.signal });
    if (run.port !== undefined && process.connected) process.send?.(run.port);
    if (!stopping.signal.aborted) run.post();
    await aborted(stopping.signal);
    await run.stop();
  } catch (error) {
    console.error(`error: ${reasonOf(error)}`);
    process.exitCode = 2;
  }
  // The parent removes it as well, unless it was killed.
  if (!process.connected) await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  process.exit();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

function isSettings(message: unknown): message is DevSettings {
  return isRecord(message) && typeof message["folder"] === "string" && typeof message["temporary"] === "string";
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { reasonOf } from "../../sdk/index.js";
import type { Terminal } from "../command.js";

/** What the child process is sent first. */
export interface DevSettings {
  readonly folder: string;
  /** A folder that is removed at the end. */
  readonly temporary: string;
  readonly type?: string;
  /** A properties file; absent: an agent of the usual components. */
  readonly config?: string;
  readonly agent?: string;
  /** Properties of the plugin. */
  readonly values: Readonly<Record<string, string>>;
  /** Files with notifications; empty: the usual ones. */
  readonly samples: readonly string[];
  /** Of the http source; 0: a free one. */
  readonly port: number;
}

const childFile = fileURLToPath(new URL("./child.js", import.meta.url));
const stopMilliseconds = 4000;

/** The agent in a child process, one after the other: a new process has none of the modules that were loaded before. */
export class DevAgent {
  readonly #settings: DevSettings;
  readonly #terminal: Terminal;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  /** That of the first child: the address stays the same. */
  #port: number;

  constructor(settings: DevSettings, terminal: Terminal) {
    this.#settings = settings;
    this.#terminal = terminal;
    this.#port = settings.port;
  }

  async replace(): Promise<void> {
    await this.stop();
    if (this.#terminal.stopRequested.aborted) return;
    const { config, temporary } = this.#settings;
    const child = fork(childFile, [], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // What the plugin writes to a relative path is kept out of its folder.
      ...(config === undefined ? { cwd: temporary } : {}),
    });
    const { out, err } = this.#terminal;
    if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", out);
    if (child.stderr !== null) createInterface({ input: child.stderr }).on("line", err);
    child.on("message", (message) => {
      if (typeof message === "number") this.#port = message;
    });
    // A child that has just ended cannot be sent anything.
    child.on("error", (error) => err(`the agent could not be reached: ${error.message}`));
    this.#child = child;
    this.#ended = once(child, "exit").then(
      ([code, signal]) => this.#noteEnd(child, `${signal ?? `exit code ${code}`}`),
      (error: unknown) => this.#noteEnd(child, reasonOf(error)),
    );
    child.send({ ...this.#settings, port: this.#port } satisfies DevSettings);
  }

  #noteEnd(child: ChildProcess, how: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (this.#terminal.stopRequested.aborted) return;
    this.#terminal.err(`the agent ended (${how}); it starts again when a file changes`);
  }

  /** Posts the notifications again. */
  post(): void {
    if (this.#child?.connected === true) this.#child.send("post");
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    if (child.connected) child.send("stop");
    const timer = setTimeout(() => {
      this.#terminal.err(`the agent did not stop within ${stopMilliseconds} ms and was ended`);
      child.kill("SIGKILL");
    }, stopMilliseconds);
    await this.#ended;
    clearTimeout(timer);
  }
}

import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { HttpConfig } from "./config.js";
import { closingResponse, type Refusal, tooManyConnections } from "./responses.js";

type Limits = Pick<HttpConfig, "max_connections" | "retry_after">;

/** Most connections beyond the limit that get a response; others are closed at once. */
const MOST_ANSWERED = 100;

/** How long a sender has to read its response. */
const LINGER_MILLIS = 2000;

/** Where the system does not say how many files this process may open. */
const USUAL_FILES = 10_240;

/** Connections of all sources of this process: channels, databases and the management interface need the other half of its files. */
export const MOST_IN_PROCESS = Math.floor(openFileLimit() / 2);
let openInProcess = 0;

/** Node has raised it as far as it may. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? USUAL_FILES);
  } catch {
    return USUAL_FILES;
  }
}

/** Counts the open connections of a source, and closes those beyond the limit. */
export class ConnectionLimit {
  #config: Limits;
  readonly #refused: (refusal: Refusal) => void;
  #open = 0;

  constructor(config: Limits, refused: (refusal: Refusal) => void) {
    this.#config = config;
    this.#refused = refused;
  }

  /** Applies to later connections; open ones stay open. */
  set config(config: Limits) {
    this.#config = config;
  }

  /** False beyond the limit; then the connection gets a response, where it speaks plain HTTP, and is closed. */
  admits(socket: Socket, isPlain: boolean): boolean {
    const { max_connections, retry_after } = this.#config;
    this.#open += 1;
    openInProcess += 1;
    socket.once("close", this.#closed);
    if (this.#open <= max_connections && openInProcess <= MOST_IN_PROCESS) return true;
    const refusal = tooManyConnections(retry_after);
    this.#refused(refusal);
    const mayWait = this.#open <= max_connections + MOST_ANSWERED && openInProcess <= MOST_IN_PROCESS * 1.1;
    if (isPlain && mayWait) endWith(closingResponse(refusal), socket);
    else socket.destroy();
    return false;
  }

  readonly #closed = (): void => {
    this.#open -= 1;
    openInProcess -= 1;
  };
}

/** What the sender has sent is read and discarded: unread, it would reset the connection before the response is read. */
function endWith(response: string, socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MILLIS).unref();
  socket.on("close", () => clearTimeout(timer));
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.resume();
  socket.end(response);
}

import type { Socket } from "node:net";
import type { HttpConfig } from "./config.js";
import { rawAnswer } from "./malformed-request.js";
import { type Refusal, tooManyConnections } from "./refusal.js";

type Limits = Pick<HttpConfig, "max_connections" | "retry_after">;

/** Most connections beyond the limit that are answered; others are closed at once. */
const MOST_ANSWERED = 100;

/** How long a sender has to read its answer. */
const LINGER_MILLIS = 2000;

/** Counts the open connections of a source, and closes those that are too many. */
export class ConnectionLimit {
  #config: Limits;
  readonly #refused: (refusal: Refusal) => void;
  #open = 0;

  constructor(config: Limits, refused: (refusal: Refusal) => void) {
    this.#config = config;
    this.#refused = refused;
  }

  /** From now on; what is open stays open. */
  set config(config: Limits) {
    this.#config = config;
  }

  /** False when there are too many; then the connection is answered, where it speaks plain HTTP, and closed. */
  admits(socket: Socket, isPlain: boolean): boolean {
    const { max_connections, retry_after } = this.#config;
    this.#open += 1;
    socket.once("close", this.#closed);
    if (this.#open <= max_connections) return true;
    const refusal = tooManyConnections(retry_after);
    this.#refused(refusal);
    if (isPlain && this.#open <= max_connections + MOST_ANSWERED) endWith(rawAnswer(refusal), socket);
    else socket.destroy();
    return false;
  }

  readonly #closed = (): void => {
    this.#open -= 1;
  };
}

/** What the sender has sent is read and thrown away: unread, it would reset the connection before the answer is read. */
function endWith(answer: string, socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MILLIS).unref();
  socket.on("close", () => clearTimeout(timer));
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.resume();
  socket.end(answer);
}

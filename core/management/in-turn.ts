import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Milliseconds without a byte read after which a caller is disconnected whose answer waits for it. */
const LONGEST_UNREAD = 60_000;

/**
 * Answers the requests of a connection one after another, and reads no more of it meanwhile. Node hands over all that a caller
 * sends who does not wait for answers, and the answers would be made, and wait, together. Who stops reading is disconnected.
 */
export function inTurn(app: RequestListener, longestUnread = LONGEST_UNREAD): RequestListener {
  const open = new WeakMap<Socket, Connection>();
  return (request, response) => {
    const { socket } = request;
    const connection = open.get(socket) ?? new Connection(socket, { app, longestUnread });
    open.set(socket, connection);
    connection.add({ request, response });
  };
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface ConnectionParts {
  readonly app: RequestListener;
  readonly longestUnread: number;
}

class Connection {
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  #waiting: Call[] = [];
  #isAnswering = false;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.on("resume", this.#hold);
    socket.once("close", () => {
      this.#waiting = [];
    });
  }

  add(call: Call): void {
    if (!this.#isAnswering) this.#answer(call);
    else {
      this.#waiting.push(call);
      this.#hold();
    }
  }

  #answer({ request, response }: Call): void {
    const { app, longestUnread } = this.#parts;
    this.#isAnswering = true;
    // An answer may take long to be made; from its end on only its reader is waited for.
    this.#socket.setTimeout(0);
    response.once("prefinish", () => this.#socket.setTimeout(longestUnread));
    // In the next turn of the event loop: others come before its next call.
    response.once("close", () => setImmediate(() => this.#next()));
    app(request, response);
  }

  #next(): void {
    this.#isAnswering = false;
    const call = this.#waiting.shift();
    if (call === undefined) return;
    // The body of the last one may not have arrived.
    if (this.#waiting.length === 0) this.#socket.resume();
    this.#answer(call);
  }

  /** Node goes on reading by itself when answers have been written. */
  readonly #hold = (): void => {
    if (this.#waiting.length > 0) this.#socket.pause();
  };
}

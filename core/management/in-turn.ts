import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Milliseconds without a byte read after which a caller is disconnected whose answer waits for it. */
const LONGEST_UNREAD = 60_000;

/**
 * Answers the requests of a connection one after another, and reads no more of it meanwhile. Node hands over all that a caller
 * sends who does not wait for answers, and the answers would be made, and wait, together. Who stops reading is disconnected.
 */
export class InTurn {
  readonly #parts: ConnectionParts;
  readonly #open = new WeakMap<Duplex, Connection>();

  constructor(app: RequestListener, longestUnread = LONGEST_UNREAD) {
    this.#parts = { app, longestUnread };
  }

  readonly answer: RequestListener = (request, response) => {
    this.#connectionOf(request.socket).add({ request, response });
  };

  /** Does the last thing on a connection, once the calls that arrived as a whole are answered: a caller takes the first answer for that to its first call. */
  last(socket: Duplex, work: () => void): void {
    const open = this.#open.get(socket);
    if (open === undefined) work();
    else open.last(work);
  }

  #connectionOf(socket: Socket): Connection {
    const open = this.#open.get(socket);
    if (open !== undefined) return open;
    const opened = new Connection(socket, this.#parts);
    this.#open.set(socket, opened);
    return opened;
  }
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
  #answered: Call | undefined;
  #waiting: Call[] = [];
  #last: (() => void) | undefined;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.on("resume", this.#hold);
    socket.once("close", () => {
      this.#waiting = [];
      this.#last = undefined;
    });
  }

  add(call: Call): void {
    // After a last answer no call is made.
    if (!this.#socket.writable) return;
    if (this.#answered === undefined) this.#answer(call);
    else {
      this.#waiting.push(call);
      this.#hold();
    }
  }

  /** Only the first one counts: Node's parser fails again at whatever follows. */
  last(work: () => void): void {
    if (this.#last !== undefined) return;
    this.#last = work;
    this.#socket.pause();
    this.#waiting = this.#waiting.filter(({ request }) => request.complete);
    if (this.#answered?.request.complete !== true) work();
  }

  #answer(call: Call): void {
    const { app, longestUnread } = this.#parts;
    const { request, response } = call;
    this.#answered = call;
    // An answer may take long to be made; from its end on only its reader is waited for.
    this.#socket.setTimeout(0);
    response.once("prefinish", () => this.#socket.setTimeout(longestUnread));
    // In the next turn of the event loop: others come before its next call.
    response.once("close", () => setImmediate(() => this.#next()));
    app(request, response);
  }

  #next(): void {
    this.#answered = undefined;
    const call = this.#socket.writable ? this.#waiting.shift() : undefined;
    if (call === undefined) {
      this.#last?.();
      return;
    }
    // The body of the last one may not have arrived.
    if (this.#waiting.length === 0 && this.#last === undefined) this.#socket.resume();
    this.#answer(call);
  }

  /** Node goes on reading by itself when answers have been written. */
  readonly #hold = (): void => {
    if (this.#waiting.length > 0 || this.#last !== undefined) this.#socket.pause();
  };
}

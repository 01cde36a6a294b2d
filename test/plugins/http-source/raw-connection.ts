import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A bare connection, for what an HTTP client would hide. */
export class RawConnection {
  /** What arrived, in the pieces in which it arrived. */
  readonly pieces: string[] = [];
  readonly #socket: Socket;
  readonly #closed: Promise<unknown>;
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once("close", resolve));
    socket.once("close", () => {
      this.#isClosed = true;
    });
    socket.on("data", (piece) => this.pieces.push(piece.toString("latin1")));
    socket.on("error", () => undefined);
  }

  static async open(context: TestContext, port: number): Promise<RawConnection> {
    const socket = connect(port, "127.0.0.1");
    context.after(() => socket.destroy());
    const connection = new RawConnection(socket);
    await once(socket, "connect");
    return connection;
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  /** Sends no more, and goes on reading. */
  finish(): void {
    this.#socket.end();
  }

  abort(): void {
    this.#socket.destroy();
  }

  /** Ends both sides at once, as a process that is killed with unread bytes does. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Resolves when this number of responses without content has arrived; rejects when the connection is closed before. */
  async received(responses: number): Promise<string> {
    while (this.pieces.join("").split("\r\n\r\n").length <= responses) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.pieces.join(""))}`);
      await Promise.race([once(this.#socket, "data"), this.#closed]);
    }
    return this.pieces.join("");
  }

  /** Resolves when this text has arrived; rejects when the connection is closed before. */
  async receivedText(text: string): Promise<void> {
    while (!this.pieces.join("").includes(text)) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.pieces.join(""))}`);
      await Promise.race([once(this.#socket, "data"), this.#closed]);
    }
  }

  /** Everything that arrived until the connection was closed. */
  async untilClosed(): Promise<string> {
    await this.#closed;
    return this.pieces.join("");
  }
}

/** The text of a POST of this body to /notify. */
export function post(body: string, ...headers: readonly string[]): string {
  const fields = [
    "Host: agent",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return ["POST /notify HTTP/1.1", ...fields, "", body].join("\r\n");
}

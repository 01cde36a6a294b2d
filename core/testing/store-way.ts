import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** A port of this machine that leads to another one, as long as it is not silent. */
export class StoreWay {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs: Set<Pair>;
  #isSilent = false;
  #losesAnswers = false;

  private constructor(server: Server, pairs: Set<Pair>) {
    this.#server = server;
    this.#pairs = pairs;
    const address = server.address();
    this.port = typeof address === "object" && address !== null ? address.port : 0;
  }

  static async open(to: { readonly host: string; readonly port: number }): Promise<StoreWay> {
    const pairs = new Set<Pair>();
    const server = createServer((near) => {
      const pair = { near, far: connect(to) };
      pairs.add(pair);
      for (const socket of [pair.near, pair.far]) socket.on("error", nothing).on("close", () => end(pair));
      way.#carry(pair);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const way = new StoreWay(server, pairs);
    return way;
  }

  /** Connections stay open, new ones are taken, and nothing is carried. */
  silence(): void {
    this.#isSilent = true;
    for (const { near, far } of this.#pairs) {
      near.unpipe(far).pause();
      far.unpipe(near).pause();
    }
  }

  resume(): void {
    this.#isSilent = false;
    for (const pair of this.#pairs) this.#carry(pair);
  }

  /** Until the cut what is sent gets to the store, and its answers do not come back. */
  loseAnswers(): void {
    this.#losesAnswers = true;
    for (const { near, far } of this.#pairs) far.unpipe(near).resume();
  }

  /** Ends the connections; new ones are taken. */
  cut(): void {
    this.#losesAnswers = false;
    for (const pair of this.#pairs) end(pair);
    this.#pairs.clear();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry({ near, far }: Pair): void {
    if (this.#isSilent) return;
    near.pipe(far);
    if (this.#losesAnswers) far.resume();
    else far.pipe(near);
  }
}

function end({ near, far }: Pair): void {
  near.destroy();
  far.destroy();
}

function nothing(): void {}

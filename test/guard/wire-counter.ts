import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { MessageReader } from "./message-reader.js";
import { SentStatements } from "./sent-statements.js";

/** What went over the connections to PostgreSQL, in transactions that insert rows of entities. */
export interface WireCounts {
  /** Statements that the server has completed, BEGIN and COMMIT too. */
  statements: number;
  transactions: number;
  /** Messages to the server: of the extended protocol one statement has several. */
  messages: number;
  /** Bytes to the server. */
  bytes: number;
  /** Rows of entities, in transactions that have ended; also of those that were rolled back. */
  rows: number;
  /** Transactions that insert no rows of entities: log-in, and what the agent keeps for itself. */
  others: number;
}

/** A way to PostgreSQL on the loopback that counts. */
export interface WireCounter {
  readonly port: number;
  readonly counts: Readonly<WireCounts>;
  /** Waits until that many rows were in transactions that have ended. */
  rowsReach(rows: number): Promise<void>;
  /** From now on the client does not hear that a transaction with rows has ended, before {@link WireCounter.release}. */
  hold(): void;
  /** Hands on what is held. */
  release(): void;
  close(): Promise<void>;
}

const nothing = { statements: 0, messages: 0, bytes: 0, rows: 0 };

/** Listens on a free port and hands everything on to the server, both ways and unchanged. */
export async function countedWire(host: string, port: number): Promise<WireCounter> {
  const counts: WireCounts = { ...nothing, transactions: 0, others: 0 };
  const waiting = new Set<{ readonly rows: number; readonly settle: () => void }>();
  const sockets = new Set<Socket>();
  let isHolding = false;
  const held = new Set<Answers>();
  const ended = (open: typeof nothing) => {
    if (open.rows === 0) {
      counts.others += 1;
      return;
    }
    counts.transactions += 1;
    for (const name of ["statements", "messages", "bytes", "rows"] as const) counts[name] += open[name];
    for (const one of waiting) {
      if (counts.rows < one.rows) continue;
      waiting.delete(one);
      one.settle();
    }
  };
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host, port, noDelay: true });
    let open = { ...nothing };
    const answers = new Answers(client);
    held.add(answers);
    client.once("close", () => held.delete(answers));
    const statements = new SentStatements();
    const sent = new MessageReader("startup", (type, body) => {
      open.messages += 1;
      statements.sent(type, body);
    });
    const received = new MessageReader("typed", (type, body) => {
      if (type === "C") {
        open.statements += 1;
        const text = statements.completed();
        if (!isOwn(text)) open.rows += rowsOf(body.toString("latin1"));
      }
      if (type !== "Z") return;
      statements.ready();
      if (body.toString("latin1") !== "I") return;
      answers.hold(isHolding && open.rows > 0);
      ended(open);
      open = { ...nothing };
    });
    handOn(client, upstream, (chunk) => {
      open.bytes += chunk.length;
      sent.read(chunk);
      upstream.write(chunk);
    });
    handOn(upstream, client, (chunk) => {
      received.read(chunk);
      answers.give(chunk);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    counts,
    rowsReach: async (rows) => {
      if (counts.rows < rows) await new Promise<void>((settle) => waiting.add({ rows, settle }));
    },
    hold() {
      isHolding = true;
    },
    release() {
      for (const answers of held) answers.release();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** What a client is to get, now or later. */
class Answers {
  readonly #client: Socket;
  /** Undefined while it gets everything. */
  #held: Buffer[] | undefined;

  constructor(client: Socket) {
    this.#client = client;
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#held ??= [];
  }

  give(chunk: Buffer): void {
    if (this.#held === undefined) this.#client.write(chunk);
    else this.#held.push(chunk);
  }

  release(): void {
    for (const chunk of this.#held ?? []) this.#client.write(chunk);
    this.#held = undefined;
  }
}

function handOn(from: Socket, to: Socket, give: (chunk: Buffer) => void): void {
  from.on("data", give);
  from.on("end", () => to.end());
  from.on("error", () => to.destroy());
}

/** Whether the agent keeps something for itself with it: positions, dead letters, the list of its tables. */
function isOwn(text: string): boolean {
  return text.includes('"deneb".');
}

/** Of the tag of a completed statement. */
function rowsOf(tag: string): number {
  return Number(/^(?:INSERT \d+|COPY) (\d+)/.exec(tag)?.[1] ?? 0);
}

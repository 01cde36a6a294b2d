import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { serverOfTests } from "./postgresql.js";

/** A way to the PostgreSQL of the tests on which an answer can be lost. */
export interface WayToPostgresql {
  readonly port: number;
  /** Breaks all connections and takes no new ones. */
  close(): void;
  open(): void;
  /** Holds back the answer to the next COMMIT; resolves when the server has given it. */
  holdCommit(): Promise<void>;
  /** How often the server said that it is ready: once for each round trip. */
  roundTrips(): number;
  /** Breaks the connection when the server answers the next COMMIT; resolves then. */
  breakAtCommit(): Promise<void>;
}

interface Ambush {
  readonly breaks: boolean;
  readonly done: () => void;
}

/** `sent` makes what the server gets of what was sent. */
export async function wayToPostgresql(
  context: TestContext,
  { host, port }: { readonly host: string; readonly port: number } = serverOfTests(),
  sent: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<WayToPostgresql> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  let ambush: Ambush | undefined;
  let roundTrips = 0;
  const server = createServer((near) => {
    if (!isOpen) return void near.destroy();
    const far = connect(port, host);
    let caught: Ambush | undefined;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    near.on("data", (bytes) => {
      if (ambush !== undefined && bytes.includes("COMMIT")) {
        caught = ambush;
        ambush = undefined;
      }
      far.write(sent(bytes));
    });
    far.on("data", (bytes) => {
      roundTrips += readyIn(bytes);
      // What the server answers to statements before it may come by itself.
      if (caught === undefined || !bytes.includes(COMMITTED)) return void near.write(bytes);
      caught.done();
      if (caught.breaks) near.destroy();
    });
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  const close = () => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
  };
  const lay = (breaks: boolean) =>
    new Promise<void>((done) => {
      ambush = { breaks, done };
    });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    close();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the way has no port");
  return {
    port: address.port,
    close,
    open: () => {
      isOpen = true;
    },
    roundTrips: () => roundTrips,
    holdCommit: () => lay(false),
    breakAtCommit: () => lay(true),
  };
}

/** ReadyForQuery in a transaction or out of one, which ends what the server sends at a time. */
function readyIn(bytes: Buffer): number {
  const end = bytes.subarray(-6);
  return end.length === 6 && end.subarray(0, 5).equals(READY) ? 1 : 0;
}

/** The tag with which the server says that a COMMIT is done. */
const COMMITTED = Buffer.from("COMMIT\0");
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

const HEAD_BYTES = 4;
const QUERY = 3;
/** The number of the error, and its words, of a MySQL Router that shares connections. */
const REFUSED = { number: 4501, message: "Multi-Statements are forbidden if connection-sharing is enabled." } as const;

/** Stands before a MySQL and refuses texts of several statements, as some proxies do; its port, and how many it refused. */
export async function oneStatementProxy(
  context: TestContext,
  server: { readonly host: string; readonly port: number },
): Promise<{ readonly port: number; readonly refused: () => number }> {
  let refused = 0;
  const refuse = (socket: Socket) => {
    refused += 1;
    socket.write(errorPacket());
  };
  const proxy = createServer((socket) => {
    const behind = connect(server);
    const end = () => {
      socket.destroy();
      behind.destroy();
    };
    context.after(end);
    for (const one of [socket, behind]) one.on("error", end).on("close", end);
    behind.on("data", (data) => socket.write(data));
    const packets = new Packets();
    socket.on("data", (data) => {
      for (const packet of packets.with(data)) {
        if (holdsSeveral(packet)) refuse(socket);
        else behind.write(packet);
      }
    });
  }).listen(0, "127.0.0.1");
  context.after(() => proxy.close());
  await once(proxy, "listening");
  const address = proxy.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, refused: () => refused };
}

class Packets {
  #rest: Buffer = Buffer.alloc(0);

  /** Those that are complete now. */
  *with(data: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, data]);
    while (this.#rest.length >= HEAD_BYTES) {
      const length = HEAD_BYTES + this.#rest.readUIntLE(0, 3);
      if (this.#rest.length < length) return;
      yield this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
    }
  }
}

function holdsSeveral(packet: Buffer): boolean {
  return packet[3] === 0 && packet[HEAD_BYTES] === QUERY && packet.includes(";");
}

function errorPacket(): Buffer {
  const body = Buffer.from(`\xff..#HY000${REFUSED.message}`, "latin1");
  body.writeUInt16LE(REFUSED.number, 1);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = 1;
  return Buffer.concat([head, body]);
}

import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { TestContext } from "node:test";

const HEAD_BYTES = 4;
const QUERY = 3;
const PREPARE = 22;

/** An error of the server: its number, SQLSTATE and words. */
export interface ServerError {
  readonly number: number;
  readonly state: string;
  readonly message: string;
}

/** Stands before a MySQL and sees each text that is sent to be run or prepared; one with an error gets that, and the server does not get it. Its port. */
export async function mysqlRelay(
  context: TestContext,
  server: { readonly host: string; readonly port: number },
  seen: (text: string) => ServerError | undefined,
): Promise<number> {
  const relay = createServer((socket) => {
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
        const text = textOf(packet);
        const error = text === undefined ? undefined : seen(text);
        if (error === undefined) behind.write(packet);
        else socket.write(errorPacket(error));
      }
    });
  }).listen(0, "127.0.0.1");
  context.after(() => relay.close());
  await once(relay, "listening");
  const address = relay.address();
  return typeof address === "object" && address !== null ? address.port : 0;
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

/** Undefined for a packet without one. */
function textOf(packet: Buffer): string | undefined {
  const command = packet[HEAD_BYTES];
  if (packet[3] !== 0 || (command !== QUERY && command !== PREPARE)) return undefined;
  return packet.toString("utf8", HEAD_BYTES + 1);
}

function errorPacket({ number, state, message }: ServerError): Buffer {
  const body = Buffer.from(`\xff..#${state}${message}`, "latin1");
  body.writeUInt16LE(number, 1);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = 1;
  return Buffer.concat([head, body]);
}

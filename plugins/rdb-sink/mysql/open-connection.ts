import type { Socket } from "node:net";
import { codeOf, reasonOf } from "deneb/sdk";
import type { Connection, ConnectionOptions } from "mysql2";
import { UNREADABLE, WITHOUT_KEY } from "./error-kinds.js";

declare module "mysql2" {
  interface Connection {
    readonly stream: Socket;
    /** Reads a message of the server; without one it begins the next command. */
    handlePacket(packet?: unknown): void;
  }
}

/**
 * A connection that is ready. What `mysql2` cannot read it throws where nobody catches it while no statement runs, and a second error of a
 * connection has no listener: the whole process would end. Here both break the connection, as any other fault of it.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { createConnection } = (await import("mysql2")).default; // Only where MySQL is used: it is large.
  return await new Promise((resolve, reject) => {
    const connection = createConnection(options);
    const handle = connection.handlePacket.bind(connection);
    let last: Buffer = Buffer.alloc(0);
    let asked = false;
    let isOpen = false;
    connection.handlePacket = (packet) => {
      if (!isOpen) {
        asked = wantsPassword(last);
        last = bodyOf(packet);
      }
      try {
        handle(packet);
      } catch (cause) {
        connection.stream.destroy(new Error(`${UNREADABLE}: ${reasonOf(cause)}`, { cause }));
      }
    };
    const isKeyless = (error: Error) => asked && options.ssl === undefined && codeOf(error) === REFUSED;
    connection.on("error", (error) => reject(isKeyless(error) ? withoutKey(error) : plain(error)));
    connection.once("connect", () => {
      isOpen = true;
      resolve(connection);
    });
  });
}

/** Ends what the driver says of a way to log in that it does not have. */
const TO_PROGRAMMERS = /\. See TODO: .*$/s;

function plain(error: Error): Error {
  error.message = error.message.replace(TO_PROGRAMMERS, "");
  return error;
}

const REFUSED = "ER_ACCESS_DENIED_ERROR";
const HEAD_BYTES = 4;
/** What a server answers that does not know the password by heart: a client may send it encrypted. */
const FULL_LOGIN = Buffer.from([1, 4]);
const TO_SHA256 = Buffer.from("\xfesha256_password\0", "latin1");

/** Whether a server without TLS has to send its key next, with which the password is encrypted. */
function wantsPassword(body: Buffer): boolean {
  return body.equals(FULL_LOGIN) || body.subarray(0, TO_SHA256.length).equals(TO_SHA256);
}

function bodyOf(packet: unknown): Buffer {
  const { buffer, start, end }: Partial<MessageOfServer> = packet ?? {};
  return Buffer.isBuffer(buffer) ? buffer.subarray(Number(start) + HEAD_BYTES, end) : Buffer.alloc(0);
}

interface MessageOfServer {
  readonly buffer: unknown;
  readonly start: number;
  readonly end: number;
}

/** What a server says that has none is what it says of a wrong password. */
function withoutKey(error: Error): Error {
  return Object.assign(error, { code: WITHOUT_KEY });
}

import type { Socket } from "node:net";
import { reasonOf } from "deneb/sdk";
import type { Connection, ConnectionOptions } from "mysql2";
import { UNREADABLE } from "./error-kinds.js";

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
    connection.handlePacket = (packet) => {
      try {
        handle(packet);
      } catch (cause) {
        connection.stream.destroy(new Error(`${UNREADABLE}: ${reasonOf(cause)}`, { cause }));
      }
    };
    connection.on("error", (error) => reject(plain(error)));
    connection.once("connect", () => resolve(connection));
  });
}

/** Ends what the driver says of a way to log in that it does not have. */
const TO_PROGRAMMERS = /\. See TODO: .*$/s;

function plain(error: Error): Error {
  error.message = error.message.replace(TO_PROGRAMMERS, "");
  return error;
}

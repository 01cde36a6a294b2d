import { reasonOf } from "deneb/sdk";
import type pg from "pg";
import { UNREADABLE } from "./error-kinds.js";
import { ReportEnds } from "./report-ends.js";

/** A socket, or TLS over it. */
interface MessageStream {
  on(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  destroy(error: Error): unknown;
}

declare module "pg" {
  interface Connection {
    /** Reads the messages of the server. */
    attachListeners(stream: MessageStream): void;
  }
}

/** The classes of `pg`, loaded only where PostgreSQL is used: they are large. */
export async function loadPg(): Promise<Pick<typeof pg, "Client" | "Pool">> {
  const { Client, Pool } = (await import("pg")).default;
  class EndingClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const { connection } = this;
      const attach = connection.attachListeners.bind(connection);
      connection.attachListeners = (stream) => attach(guarded(stream));
    }
  }
  return { Client: EndingClient, Pool };
}

/**
 * Messages with the ends that they lack. What `pg` cannot read, or did not ask for, it throws where nobody catches it: the whole process
 * would end. Here it breaks the connection, as any other fault of it.
 */
function guarded(stream: MessageStream): MessageStream {
  const ends = new ReportEnds();
  const reading = (listener: (chunk: Buffer) => void) => (chunk: Buffer) => {
    try {
      listener(ends.added(chunk));
    } catch (cause) {
      stream.destroy(new Error(`${UNREADABLE}: ${reasonOf(cause)}`, { cause }));
    }
  };
  return {
    on: (event, listener) => stream.on(event, event === "data" ? reading(listener) : listener),
    destroy: (error) => stream.destroy(error),
  };
}

import type pg from "pg";
import { ReportEnds } from "./report-ends.js";

/** A socket, or TLS over it. */
interface MessageStream {
  on(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
}

declare module "pg" {
  interface Connection {
    /** Reads the messages of the server. */
    attachListeners(stream: MessageStream): void;
  }
}

/** The classes of `pg`, loaded only where PostgreSQL is used: they are large. */
export async function loadedPg(): Promise<Pick<typeof pg, "Client" | "Pool">> {
  const { Client, Pool } = (await import("pg")).default;
  class EndingClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const { connection } = this;
      const attach = connection.attachListeners.bind(connection);
      connection.attachListeners = (stream) => attach(withReportEnds(stream));
    }
  }
  return { Client: EndingClient, Pool };
}

function withReportEnds(stream: MessageStream): MessageStream {
  const ends = new ReportEnds();
  const added = (listener: (chunk: Buffer) => void) => (chunk: Buffer) => listener(ends.added(chunk));
  return { on: (event, listener) => stream.on(event, event === "data" ? added(listener) : listener) };
}

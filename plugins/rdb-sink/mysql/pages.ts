import type { Readable } from "node:stream";
import { onAbort } from "deneb/sdk";
import { type Cell, type Statement, writeAborted } from "deneb/sql";
import type { Connection } from "mysql2";
import { connectBySslMode } from "../encryption.js";
import type { ServerSettings } from "../server.js";
import { connectionOptions, SESSION, wantsOtherEncryption } from "./connection.js";
import { openConnection } from "./open-connection.js";

/**
 * The rows of a statement as they arrive. The connection is a separate one, because it is busy until the last row; it is
 * used for one statement after another.
 */
export class MysqlPages {
  readonly #settings: ServerSettings;
  #idle: Connection | undefined;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
  }

  async *read(
    { text, runs }: Statement,
    size: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly (readonly Cell[])[]> {
    const connection = this.#idle ?? (await this.#connected());
    this.#idle = undefined;
    let rows: Readable | undefined;
    // The end of a connection reaches itself only, not the rows of a statement.
    const broken = (error: Error) => rows?.destroy(error);
    const abort = () => {
      connection.destroy();
      broken(writeAborted());
    };
    connection.on("error", broken);
    const stopListening = onAbort(signal, abort);
    try {
      if (signal.aborted) throw writeAborted();
      for (const run of runs) {
        const parameters = run.map((cell) => cell ?? null);
        rows = connection.execute({ sql: text, rowsAsArray: true }, parameters).stream({ highWaterMark: size });
        let page: (readonly Cell[])[] = [];
        for await (const row of rows) {
          page.push(cellsOf(row));
          if (page.length < size) continue;
          yield page;
          page = [];
        }
        if (page.length > 0) yield page;
      }
      this.#idle = connection;
    } catch (error) {
      throw signal.aborted ? writeAborted() : error;
    } finally {
      stopListening();
      connection.removeListener("error", broken);
      // Rows may be on their way.
      if (this.#idle !== connection) connection.destroy();
    }
  }

  close(): void {
    this.#idle?.destroy();
    this.#idle = undefined;
  }

  async #connected(): Promise<Connection> {
    const connection = await connectBySslMode(this.#settings.options, {
      connect: (way) => openConnection(connectionOptions(this.#settings, way)),
      wantsOther: wantsOtherEncryption,
    });
    connection.on("error", () => {
      if (this.#idle === connection) this.#idle = undefined;
    });
    await prepare(connection);
    return connection;
  }
}

/** A reader may take its time, such as a person at a pager: the server ends a connection that takes no rows for a minute. */
const SLOW_READER = `${SESSION}, net_write_timeout = 86400`;

function prepare(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(SLOW_READER, (error) => (error === null ? resolve() : reject(error)));
  });
}

function cellsOf(row: unknown): readonly Cell[] {
  if (!Array.isArray(row)) return [];
  return row.map((cell) => (cell === null || cell === undefined ? undefined : String(cell)));
}

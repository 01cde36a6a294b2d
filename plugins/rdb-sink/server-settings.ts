import type { ServerOptions } from "./server-options.js";

/** How to reach a database server, and how many connections to keep. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** The database of the configuration; servers whose schemas are databases do without. */
  readonly database: string;
  readonly username: string;
  readonly password: string;
  readonly options: ServerOptions;
  readonly mostConnections: number;
  readonly mostIdle: number;
  readonly leastIdle: number;
  /** 0 keeps idle connections open. */
  readonly idleMillis: number;
  readonly connectTimeoutMillis: number;
  /** 0 waits for ever. */
  readonly statementTimeoutMillis: number;
}

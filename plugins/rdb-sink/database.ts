import type { Context, QueryResult } from "deneb/sdk";
import type { Store } from "deneb/sql";
import type { RdbConfig } from "./config.js";
import type { ServerOptions } from "./server.js";

/** A kind of database. */
export interface DatabaseKind {
  /** Reads `rdb_options`. */
  options(text: string): ServerOptions;
  /** No I/O. */
  open(config: RdbConfig, context: Context): Store;
  query(config: RdbConfig, text: string, context: Context): Promise<QueryResult>;
}

import type { Context, QueryResult } from "deneb/sdk";
import type { Store } from "deneb/sql";
import type { RdbConfig } from "./config.js";
import type { ServerOptions } from "./server.js";

/** A kind of database: what its folder exports. */
export interface DatabaseKind {
  /** Parses `rdb_options`. */
  options(text: string): ServerOptions;
  /** Performs no I/O. */
  open(config: RdbConfig, context: Context): Store;
  query(config: RdbConfig, text: string, context: Context): Promise<QueryResult>;
}

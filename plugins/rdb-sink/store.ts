import type { Context, QueryResult } from "deneb/sdk";
import type { RdbConfig } from "./config.js";
import type { Dialect } from "./dialects/dialect.js";
import type { Driver } from "./drivers/driver.js";
import type { ServerOptions } from "./drivers/server-options.js";
import type { Place } from "./faults.js";

/** A database to write to: how it speaks, the way to it, and where it is. */
export interface Store {
  readonly dialect: Dialect;
  readonly driver: Driver;
  readonly place: Place;
  /** Names of connection options that have no meaning. */
  readonly ignoredOptions: readonly string[];
}

/** A kind of database. */
export interface StoreKind {
  /** Reads `rdb_options`. */
  options(text: string): ServerOptions;
  /** No I/O. */
  open(config: RdbConfig, context: Context): Store;
  query(config: RdbConfig, text: string, context: Context): Promise<QueryResult>;
}

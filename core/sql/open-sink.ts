import type { Context, Sink } from "../sdk/index.js";
import type { SqlConfig } from "./contract/schema.js";
import type { Store } from "./contract/store.js";
import { RdbSink } from "./sql-sink.js";

/**
 * A sink that stores entities as rows of a database, for the `create` of your plugin: layouts, names, tables made and
 * extended as they are needed, last data, retention and exactly-once rows by the configuration, SQL by the dialect, the
 * way there by the driver.
 */
export function sqlSink(config: SqlConfig, context: Context, store: Store): Sink {
  return new RdbSink(config, context, store);
}

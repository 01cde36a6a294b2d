import type { Context, Logger } from "../../sdk/index.js";
import { ofStatements } from "../contract/database-error.js";
import type { Store } from "../contract/driver.js";
import { namingOf, type SqlConfig } from "../contract/schema.js";
import type { TableName } from "../contract/statement.js";
import type { KnownStore } from "./known-store.js";
import { Tables } from "./known-tables.js";
import type { ListedStore } from "./make-missing.js";
import { Register } from "./register.js";
import { TableLife } from "./table-life.js";

interface StoreParts {
  readonly log: Logger;
  /** Told of tables that were created, or got columns. */
  readonly changed?: (name: TableName) => void;
}

/** A store that remembers its tables, as a configuration wants them. */
export function openStore(config: SqlConfig, store: Store, parts: StoreParts): KnownStore {
  return {
    ...store,
    ...parts,
    dialect: { ...store.dialect, errors: ofStatements(store.dialect.errors) },
    naming: namingOf(config, store.dialect.database),
    nativeTypes: config.attr_native_types,
    geometryIndex: config.attr_geometry_index ?? false,
    tables: new Tables(store.dialect.columnKey),
  };
}

/** The store of a sink that creates tables; `unlisted` keeps them out of the register. */
export function listedStore(
  config: SqlConfig,
  known: KnownStore,
  { context, listing }: { readonly context: Context; readonly listing: "listed" | "unlisted" },
): ListedStore {
  const { dialect } = known;
  return {
    ...known,
    register: listing === "listed" ? new Register(known, context) : undefined,
    life: new TableLife(config, { naming: namingOf(config, dialect.database), dialect, context }),
  };
}

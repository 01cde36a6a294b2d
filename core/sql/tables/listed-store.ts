import type { Context } from "../../sdk/index.js";
import { namingOf, type SqlConfig } from "../contract/schema.js";
import type { KnownStore } from "./known-store.js";
import type { ListedStore } from "./make-missing.js";
import { Register } from "./register.js";
import { TableLife } from "./table-life.js";

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

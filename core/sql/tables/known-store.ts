import type { Logger } from "../../sdk/index.js";
import type { Store } from "../contract/store.js";
import type { Fitting } from "./fitting.js";
import type { Tables } from "./known-tables.js";
import type { Register } from "./register.js";

/** A known store whose tables are listed; without a register none is. */
export interface ListedStore extends KnownStore {
  readonly register: Register | undefined;
}

/** A store and what is known to exist there. */
export interface KnownStore extends Store, Fitting {
  readonly tables: Tables;
  readonly log: Logger;
}

import type { Logger } from "deneb/sdk";
import type { Fitting } from "./fitting.js";
import type { Register } from "./register.js";
import type { Store } from "./store.js";
import type { Tables } from "./tables.js";

/** A known store whose tables are listed; without a register none is. */
export interface ListedStore extends KnownStore {
  readonly register: Register | undefined;
}

/** A store and what is known to exist there. */
export interface KnownStore extends Store, Fitting {
  readonly tables: Tables;
  readonly log: Logger;
}

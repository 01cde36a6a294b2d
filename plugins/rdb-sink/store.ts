import type { Dialect } from "./dialects/dialect.js";
import type { Driver } from "./drivers/driver.js";
import type { Place } from "./faults.js";
import type { OwnPlace } from "./own-place.js";

/** A database to write to: how it speaks, the way to it, and where it is. */
export interface Store {
  readonly dialect: Dialect;
  readonly driver: Driver;
  readonly place: Place;
  /** Chooses where the tables of the agent are; absent where that is fixed. */
  readonly ownPlace?: OwnPlace;
  /** Names of connection options that have no meaning. */
  readonly ignoredOptions?: readonly string[];
}

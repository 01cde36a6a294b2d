import type { OwnPlace } from "../features/own-place.js";
import type { Place } from "./database-error.js";
import type { Dialect } from "./dialect.js";
import type { Driver } from "./driver.js";

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

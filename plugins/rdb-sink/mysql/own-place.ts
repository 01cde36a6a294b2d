import { databaseErrorOf, type OwnPlace, type OwnTables, type TableName } from "deneb/sql";
import { mysqlErrors } from "./errors.js";

/** The database of the agent on a MySQL server. */
const USUAL = "deneb";
/** The default of rdb_database means PostgreSQL. */
const NO_MYSQL_DATABASE: ReadonlySet<string> = new Set(["", "postgres"]);

/** What the configuration says about it. */
export interface PlaceWishes {
  /** rdb_bookkeeping_database; empty: chosen here. */
  readonly database: string;
  /** rdb_database. */
  readonly configured: string;
}

/**
 * The database in which a sink on a MySQL server keeps positions and replayed letters. A user that may not make the
 * database `deneb` keeps them where an earlier run did, else in `rdb_database`, else with the first rows it writes.
 */
export class MysqlOwnPlace implements OwnPlace {
  readonly #wishes: PlaceWishes;
  #database: string;
  #settled = false;

  constructor(wishes: PlaceWishes) {
    this.#wishes = wishes;
    this.#database = wishes.database === "" ? USUAL : wishes.database;
  }

  /** A table of the agent there. */
  table(name: string): TableName {
    return nameIn(this.#database, name);
  }

  async settle(tables: OwnTables, written?: string): Promise<boolean> {
    if (this.#settled) return true;
    let refusal: unknown;
    for (const database of await this.#candidates(tables, written)) {
      try {
        await tables.create(nameIn(database, "deneb_positions"));
      } catch (error) {
        if (mysqlErrors.forbidden?.(databaseErrorOf(error)) !== true) throw error;
        refusal ??= error;
        continue;
      }
      if (refusal !== undefined) {
        const fields = { database, instead: this.#database, reason: databaseErrorOf(refusal).message };
        tables.warn(fields, "positions and replayed letters are kept in another database: a right is missing");
      }
      this.#database = database;
      this.#settled = true;
      return true;
    }
    if (written === undefined && this.#wishes.database === "") return false;
    throw refusal;
  }

  /** In the order in which they are tried; the same at each start, because what an earlier run made comes first. */
  async #candidates(tables: OwnTables, written: string | undefined): Promise<Iterable<string>> {
    const { database, configured } = this.#wishes;
    if (database !== "") return [database];
    const earlier = await tables.earlier();
    const known = NO_MYSQL_DATABASE.has(configured) ? [] : [configured];
    return new Set([USUAL, ...earlier, ...known, ...(written === undefined ? [] : [written])]);
  }
}

function nameIn(database: string, table: string): TableName {
  return { database, schema: database, table };
}

import { type BookkeepingDatabase, type BookkeepingTables, databaseErrorOf, type TableName } from "deneb/sql";
import { isForbidden } from "./error-kinds.js";

/** The default name of the database. */
const DEFAULT_DATABASE = "deneb";
/** The default of rdb_database is for PostgreSQL. */
const NO_MYSQL_DATABASE: ReadonlySet<string> = new Set(["", "postgres"]);

/** The properties of the sink. */
interface BookkeepingSettings {
  /** rdb_bookkeeping_database; empty to choose one. */
  readonly database: string;
  /** rdb_database. */
  readonly configured: string;
}

/**
 * The database in which a sink on a MySQL server keeps positions and replayed dead letters. A user without
 * the right to create the database `deneb` keeps them where an earlier run did, else in `rdb_database`, else in the
 * database of the first rows.
 */
export class MysqlBookkeepingDatabase implements BookkeepingDatabase {
  readonly #settings: BookkeepingSettings;
  #database: string;
  #settled = false;

  constructor(settings: BookkeepingSettings) {
    this.#settings = settings;
    this.#database = settings.database === "" ? DEFAULT_DATABASE : settings.database;
  }

  get configured(): string {
    return this.#settings.database;
  }

  /** A table in that database. */
  table(name: string): TableName {
    return nameIn(this.#database, name);
  }

  async settle(tables: BookkeepingTables, written?: string): Promise<boolean> {
    if (this.#settled) return true;
    let refused: unknown;
    for (const database of await this.#candidates(tables, written)) {
      try {
        await tables.create(nameIn(database, "deneb_positions"));
      } catch (error) {
        if (!isForbidden(databaseErrorOf(error))) throw error;
        refused ??= error;
        continue;
      }
      if (refused !== undefined) {
        const fields = { database, instead: this.#database, reason: databaseErrorOf(refused).message };
        tables.warn(fields, "positions and replayed dead letters are kept in another database: a right is missing");
      }
      this.#database = database;
      this.#settled = true;
      return true;
    }
    if (written === undefined && this.#settings.database === "") return false;
    throw refused;
  }

  /** In the order in which they are tried; stable over restarts, because the database of an earlier run comes first. */
  async #candidates(tables: BookkeepingTables, written: string | undefined): Promise<Iterable<string>> {
    const { database, configured } = this.#settings;
    if (database !== "") return [database];
    const earlier = await tables.earlier();
    const known = NO_MYSQL_DATABASE.has(configured) ? [] : [configured];
    return new Set([DEFAULT_DATABASE, ...earlier, ...known, ...(written === undefined ? [] : [written])]);
  }
}

function nameIn(database: string, table: string): TableName {
  return { database, schema: database, table };
}

import { embeddedStore } from "./embedded-store.js";
import { mysqlStore } from "./mysql-store.js";
import { postgresqlStore } from "./postgresql-store.js";

/** The databases that can be measured, by the word of the property `rdb_dialect`. */
export type BenchDatabase = "postgresql" | "mysql" | "sqlite";

/** Where the rows of a case go, as a reader sees it. */
export interface BenchStore {
  /** Properties of the sink that point the agent to it. */
  readonly properties: Readonly<Record<string, string>>;
  /** The service of the notifications, which is the schema (MySQL: the database, SQLite: the file) of their rows. */
  readonly service: string;
  /** Rows of entities in all tables; 0 before there are tables. */
  countRows(): Promise<number>;
  /** Whether the entity has a row with this value of the attribute `name`. */
  holds(entity: number, name: string): Promise<boolean>;
  /** Name of the server's processes, for their CPU time; undefined for an embedded database. */
  readonly command: string | undefined;
  drop(): Promise<void>;
}

/** A store of its own; an embedded database keeps its files in the folder. */
export async function storeOf(database: BenchDatabase, folder: string): Promise<BenchStore> {
  return await makers[database](folder);
}

const makers = {
  postgresql: async () => await postgresqlStore(),
  mysql: async () => await mysqlStore(),
  sqlite: async (folder) => embeddedStore(folder),
} satisfies Record<BenchDatabase, (folder: string) => Promise<BenchStore>>;

import { AgentError } from "../sdk/index.js";
import type { DataModel } from "./data-models.js";
import { encodeName, lowerCase, replaceOdd } from "./encoding.js";
import type { Api, Entity } from "./model.js";
import { nameLimits, shorten } from "./shorten.js";
import { tableSource } from "./table-source.js";

/** The databases that names are made for. */
export type Database = "postgresql" | "mysql" | "sqlite";

/** How names are made: what the configuration of a sink says. */
export interface Naming {
  readonly dataModel: DataModel;
  readonly encoding: boolean;
  readonly database: Database;
  /** Counts for MySQL only: names in PostgreSQL and SQLite are lower case either way. */
  readonly lowercase: boolean;
}

/** Where a notification belongs. */
export interface Address {
  readonly service: string;
  /** `/` for NGSI-LD, which has none. */
  readonly servicePath: string;
  readonly api: Api;
}

/** What the name of a table depends on besides the entity. */
export interface TablePlace {
  /** `/` when absent. */
  readonly servicePath?: string;
  /** Name of the attribute, for dm-by-attribute; for the other models without effect. */
  readonly attribute?: string;
}

/**
 * The database of an address; undefined stands for the one that the configuration of the sink names. In MySQL it is
 * the schema, which there is the same thing.
 */
export function databaseName(address: Address, naming: Naming): string | undefined {
  if (naming.database === "mysql") return schemaName(address, naming);
  if (naming.database === "sqlite" || !hasOwnDatabase(naming.dataModel)) return undefined;
  return unreserved(folded(serviceSource(address, naming), naming), naming, /^template[01]$/);
}

/**
 * The schema of an address, in MySQL its database. A name that the database keeps for itself gets a leading `_`.
 * Throws code `NO_NAME` where the data model names it after the service path and the path `/` gives no name.
 */
export function schemaName(address: Address, naming: Naming): string {
  const ofPath = naming.dataModel.endsWith("-schema");
  const source = ofPath ? pathSource(address, naming) : serviceSource(address, naming);
  const name = folded(source, naming);
  const renamed = name === "default" && address.api === "v2" && naming.database !== "mysql" ? "default_service" : name;
  return unreserved(renamed, naming, reservedSchemas[naming.database]);
}

/**
 * The table of an entity. Throws code `NO_NAME` where there is nothing to name it after, `UNSUPPORTED_DATA_MODEL` for
 * a data model that has no tables.
 */
export function tableName(entity: Entity, naming: Naming, place: TablePlace = {}): string {
  const source = tableSource(entity, naming, place);
  return shorten(orUnderscore(folded(source, naming)), nameLimits[naming.database]);
}

/** Whether the data model keeps each service in a database of its own. */
export function hasOwnDatabase(dataModel: DataModel): boolean {
  return dataModel.includes("-database");
}

// MySQL's own databases are reserved in any letter case: on some systems they are files, found in any of them.
const reservedSchemas = {
  postgresql: /^pg_|^information_schema$/,
  mysql: /^(?:information_schema|mysql|performance_schema|sys)$/i,
  sqlite: /^pg_|^information_schema$/,
} satisfies Record<Database, RegExp>;

function serviceSource({ service }: Address, { encoding, database }: Naming): string {
  if (!encoding) return replaceOdd(service, "dots and dashes");
  return encodeName(service, database === "mysql" ? "both cases" : "lower case");
}

function pathSource({ servicePath }: Address, { encoding, dataModel }: Naming): string {
  const name = encoding ? encodeName(servicePath) : replaceOdd(servicePath.replace(/^\//, ""), "dots and dashes");
  if (name !== "") return name;
  throw new AgentError(
    "NO_NAME",
    `naming the schema of service path "${servicePath}": data model "${dataModel}" names it after the path and this one gives no name; set enable_encoding = true, or use another data model`,
    { retryable: false },
  );
}

function folded(name: string, { database, lowercase }: Naming): string {
  return database === "mysql" && !lowercase ? name : lowerCase(name);
}

function unreserved(name: string, { database }: Naming, reserved: RegExp): string {
  return shorten(reserved.test(name) ? `_${name}` : orUnderscore(name), nameLimits[database]);
}

function orUnderscore(name: string): string {
  return name === "" ? "_" : name;
}

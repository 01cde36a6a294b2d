import type { Api } from "../model.js";

/** The databases that names are made for. @stable */
export type Database = "postgresql" | "mysql" | "sqlite";

/** The data models: which part of a notification decides the database, schema and table of a row. @stable */
export const dataModels = [
  "dm-by-service",
  "dm-by-service-path",
  "dm-by-entity",
  "dm-by-entity-type",
  "dm-by-attribute",
  "dm-by-entity-id",
  "dm-by-fixed-entity-type",
  "dm-by-entity-database",
  "dm-by-entity-database-schema",
  "dm-by-entity-type-database",
  "dm-by-entity-type-database-schema",
  "dm-by-fixed-entity-type-database",
  "dm-by-fixed-entity-type-database-schema",
] as const;

/** The name of a data model. @stable */
export type DataModel = (typeof dataModels)[number];

/** How names are made: what the configuration of a sink says. @stable */
export interface Naming {
  readonly dataModel: DataModel;
  readonly encoding: boolean;
  readonly database: Database;
  /** Counts for MySQL only: names in PostgreSQL and SQLite are lower case either way. */
  readonly lowercase: boolean;
  /** Whether schemas and databases whose names are not exactly the service end in a hash of it. */
  readonly serviceHash?: boolean;
  /** Whether the encoding counts for capitals in tables of NGSI v2 by entity type too; PostgreSQL and SQLite fold them otherwise. */
  readonly typeCapitals?: boolean;
}

/** Where a notification belongs. @stable */
export interface Address {
  readonly service: string;
  /** `/` for NGSI-LD, which has none. */
  readonly servicePath: string;
  readonly api: Api;
}

/** What the name of a table depends on besides the entity and the naming. */
export interface TableNameParts {
  /** `/` when absent. */
  readonly servicePath?: string;
  /** Name of the attribute, for dm-by-attribute; for the other models without effect. */
  readonly attribute?: string;
}

/**
 * The data model of that name, in any letter case and with or without hyphens (`DMByEntity`); undefined when there
 * is none.
 * @stable
 */
export function parseDataModel(text: string): DataModel | undefined {
  return bySpelling.get(spelling(text));
}

/** Why a data model makes no sense for a database, and what to use; undefined when it does. @stable */
export function refusedModel(model: DataModel, database: Database): string | undefined {
  if (model === "dm-by-service" || model === "dm-by-entity-id") {
    return `"${model}" has no tables in a relational database; use dm-by-entity or dm-by-entity-type`;
  }
  if (database === "mysql" && model.endsWith("-schema")) {
    const without = model.replace("-schema", "");
    return `"${model}" needs schemas inside a database, which MySQL has not; use ${without}`;
  }
  if (database === "sqlite" && model.includes("-database")) {
    const without = model.replace(/-database.*$/, "");
    return `"${model}" needs a server with several databases, which this kind of database has not; use ${without}`;
  }
  return undefined;
}

/** Whether the data model keeps each service in a database of its own, on a server with several. @beta */
export function hasOwnDatabase(dataModel: DataModel): boolean {
  return dataModel.includes("-database");
}

const spelling = (text: string): string => text.replaceAll("-", "").toLowerCase();

const bySpelling: ReadonlyMap<string, DataModel> = new Map(dataModels.map((model) => [spelling(model), model]));

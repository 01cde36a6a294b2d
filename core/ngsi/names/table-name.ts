import { AgentError } from "../../sdk/index.js";
import type { Entity } from "../model.js";
import { encodeName, folded, type KeptLetters, nameLimits, orUnderscore, replaceOdd, shorten } from "./encoding.js";
import {
  type Address,
  type Database,
  type DataModel,
  hasOwnDatabase,
  type Naming,
  type TableNameParts,
} from "./naming.js";

/**
 * The database of an address; undefined stands for the one that the configuration of the sink names. In MySQL it is
 * the schema, which there is the same thing.
 * @stable
 */
export function databaseName(address: Address, naming: Naming): string | undefined {
  if (naming.database === "mysql") return schemaName(address, naming);
  if (naming.database === "sqlite" || !hasOwnDatabase(naming.dataModel)) return undefined;
  return unreserved(folded(serviceSource(address, naming), naming), naming, /^template[01]$/);
}

/**
 * The schema of an address, in MySQL its database. A name that the database keeps for itself gets a leading `_`.
 * Throws code `NO_NAME` where the data model names it after the service path of NGSI v2 and the path `/` gives no name.
 * @stable
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
 * @stable
 */
export function tableName(entity: Entity, naming: Naming, place: TableNameParts = {}): string {
  const source = tableSource(entity, naming, place);
  return shorten(orUnderscore(folded(source, naming)), nameLimits[naming.database]);
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

function pathSource({ servicePath, api }: Address, { encoding, dataModel }: Naming): string {
  const name = encoding ? encodeName(servicePath) : replaceOdd(servicePath.replace(/^\//, ""), "dots and dashes");
  // All of NGSI-LD is at the root path, whose name is empty, and an empty name is `_`.
  if (name !== "" || api === "ld") return name;
  throw new AgentError(
    "NO_NAME",
    `naming the schema of service path "${servicePath}": data model "${dataModel}" names it after the path and this one gives no name; set enable_encoding = true, or use another data model`,
    { retryable: false },
  );
}

function unreserved(name: string, { database }: Naming, reserved: RegExp): string {
  return shorten(reserved.test(name) ? `_${name}` : orUnderscore(name), nameLimits[database]);
}

/** What a table is named after, encoded and joined, neither folded nor shortened yet. */
function tableSource(entity: Entity, naming: Naming, place: TableNameParts): string {
  const shape = shapes[naming.dataModel];
  if (shape === undefined) throw unsupported(entity, naming.dataModel);
  const parts = [...subject(entity, shape), ...attributeOf(entity, shape, place)];
  const isV2 = entity.api === "v2";
  if (!isV2 && parts.length === 0) return naming.encoding ? encodeName(ROOT) : "";
  const named = isV2 && shape.path ? withPath(parts, naming, place) : parts;
  if (named.length === 0) throw nameless(entity, naming.dataModel, "it has no service path that gives one");
  if (naming.encoding) return named.map((part) => encodeName(part, lettersOf(entity, shape, naming))).join("xffff");
  const kept = entity.api === "v2" ? "dots and dashes" : "nothing else";
  return named.map((part) => replaceOdd(part, kept)).join("_");
}

/** The path of all entities of NGSI-LD. */
const ROOT = "/";

/** The parts of a table name in their order; NGSI-LD leaves out the path, unless it is all there is. */
interface Shape {
  readonly path: boolean;
  readonly subject: "entity" | "type" | "nothing";
  readonly attribute: boolean;
}

const byPath: Shape = { path: true, subject: "nothing", attribute: false };
const byEntity: Shape = { path: true, subject: "entity", attribute: false };
const byAttribute: Shape = { path: true, subject: "entity", attribute: true };
const byType: Shape = { path: true, subject: "type", attribute: false };
const byFixedType: Shape = { path: false, subject: "type", attribute: false };

const shapes: Readonly<Record<DataModel, Shape | undefined>> = {
  "dm-by-service": undefined,
  "dm-by-service-path": byPath,
  "dm-by-entity": byEntity,
  "dm-by-entity-type": byType,
  "dm-by-attribute": byAttribute,
  "dm-by-entity-id": undefined,
  "dm-by-fixed-entity-type": byFixedType,
  "dm-by-entity-database": byEntity,
  "dm-by-entity-database-schema": byEntity,
  "dm-by-entity-type-database": byType,
  "dm-by-entity-type-database-schema": byType,
  "dm-by-fixed-entity-type-database": byFixedType,
  "dm-by-fixed-entity-type-database-schema": byFixedType,
};

/** In NGSI v2 an entity is identified by its id and its type, either of which may be empty. */
function subject({ id, type, api }: Entity, shape: Shape): readonly string[] {
  if (shape.subject === "nothing") return [];
  if (shape.subject === "type") return [type];
  return api === "v2" ? [id, type].filter((part) => part !== "") : [id];
}

function attributeOf(entity: Entity, shape: Shape, { attribute }: TableNameParts): readonly string[] {
  if (!shape.attribute) return [];
  if (attribute === undefined) throw nameless(entity, "dm-by-attribute", "no attribute was named");
  return [attribute];
}

/** The old encoding leaves out the slash at the start of a path, and so all of `/`. */
function withPath(
  parts: readonly string[],
  { encoding }: Naming,
  { servicePath = "/" }: TableNameParts,
): readonly string[] {
  const path = encoding ? servicePath : servicePath.replace(/^\//, "");
  return path === "" ? parts : [path, ...parts];
}

// The original's PostgreSQL sink keeps capitals in tables by type and folds them afterwards, its PostGIS sink encodes them;
// the same tables are meant.
function lettersOf({ api }: Entity, shape: Shape, { database, typeCapitals }: Naming): KeptLetters {
  const keeps = api === "v2" && shape.path && shape.subject === "type" && typeCapitals !== true;
  return database === "mysql" || keeps ? "both cases" : "lower case";
}

function unsupported({ id }: Entity, dataModel: DataModel): AgentError {
  const reason = `data model "${dataModel}" has no tables; use "dm-by-entity" or "dm-by-entity-type"`;
  return new AgentError("UNSUPPORTED_DATA_MODEL", `naming the table of entity "${id}": ${reason}`, {
    retryable: false,
  });
}

function nameless({ id }: Entity, dataModel: DataModel, reason: string): AgentError {
  const remedy = `set enable_encoding = true for "/", or use another data model`;
  return new AgentError("NO_NAME", `naming the table of entity "${id}" by "${dataModel}": ${reason}; ${remedy}`, {
    retryable: false,
  });
}

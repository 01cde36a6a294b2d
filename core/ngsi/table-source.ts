import { AgentError } from "../sdk/index.js";
import type { DataModel } from "./data-models.js";
import { encodeName, type KeptLetters, replaceOdd } from "./encoding.js";
import type { Entity } from "./model.js";
import type { Naming, TablePlace } from "./naming.js";

/** What a table is named after, encoded and joined, neither folded nor shortened yet. */
export function tableSource(entity: Entity, naming: Naming, place: TablePlace): string {
  const shape = shapes[naming.dataModel];
  if (shape === undefined) throw unsupported(entity, naming.dataModel);
  const parts = [...subject(entity, shape), ...attributeOf(entity, shape, place)];
  const named = entity.api === "v2" && shape.path ? withPath(parts, naming, place) : parts;
  if (named.length === 0) throw nameless(entity, naming.dataModel, "it has no service path that gives one");
  if (naming.encoding) return named.map((part) => encodeName(part, lettersOf(entity, shape, naming))).join("xffff");
  const kept = entity.api === "v2" ? "dots and dashes" : "nothing else";
  return named.map((part) => replaceOdd(part, kept)).join("_");
}

/** The parts of a table name in their order; NGSI-LD leaves out the path. */
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

/** In NGSI v2 an entity is told by its id and its type, either of which may be empty. */
function subject({ id, type, api }: Entity, shape: Shape): readonly string[] {
  if (shape.subject === "nothing") return [];
  if (shape.subject === "type") return [type];
  return api === "v2" ? [id, type].filter((part) => part !== "") : [id];
}

function attributeOf(entity: Entity, shape: Shape, { attribute }: TablePlace): readonly string[] {
  if (!shape.attribute) return [];
  if (attribute === undefined) throw nameless(entity, "dm-by-attribute", "no attribute was named");
  return [attribute];
}

/** The old encoding leaves out the slash at the start of a path, and so all of `/`. */
function withPath(
  parts: readonly string[],
  { encoding }: Naming,
  { servicePath = "/" }: TablePlace,
): readonly string[] {
  const path = encoding ? servicePath : servicePath.replace(/^\//, "");
  return path === "" ? parts : [path, ...parts];
}

// The original's PostgreSQL sink keeps capitals in tables by type and folds them afterwards; the same tables are meant.
function lettersOf({ api }: Entity, shape: Shape, { database }: Naming): KeptLetters {
  const keeps = api === "v2" && shape.path && shape.subject === "type";
  return database === "mysql" || keeps ? "both cases" : "lower case";
}

function unsupported({ id }: Entity, dataModel: DataModel): AgentError {
  const reason = `data model "${dataModel}" has no tables; use "dm-by-entity" or "dm-by-entity-type"`;
  return new AgentError("UNSUPPORTED_DATA_MODEL", `naming the table of entity "${id}": ${reason}`);
}

function nameless({ id }: Entity, dataModel: DataModel, reason: string): AgentError {
  const remedy = `set enable_encoding = true for "/", or use another data model`;
  return new AgentError("NO_NAME", `naming the table of entity "${id}" by "${dataModel}": ${reason}; ${remedy}`);
}

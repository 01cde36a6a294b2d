import { createHash } from "node:crypto";
import { AgentError } from "../sdk/index.js";
import type { DataModel } from "./data-models.js";
import { encodeName, lowerCase, replaceOdd } from "./encoding.js";
import type { Entity } from "./model.js";

/** How names are made: the `data_model` and `enable_encoding` of a sink. */
export interface Naming {
  readonly dataModel: DataModel;
  readonly encoding: boolean;
}

/**
 * The schema of a service. A name PostgreSQL reserves for itself (`information_schema`, or anything that starts with
 * `pg_`) gets a leading `_`.
 */
export function schemaName(service: string, naming: Naming): string {
  const name = lowerCase(naming.encoding ? encodeName(service) : replaceOdd(service, "dots and dashes"));
  return shorten(/^pg_|^information_schema$/.test(name) ? `_${name}` : orUnderscore(name));
}

/** The table of an entity. Throws code `UNSUPPORTED_DATA_MODEL` for a data model that NGSI-LD has no table for. */
export function tableName(entity: Entity, naming: Naming): string {
  const source = tableSource(entity, naming.dataModel);
  const name = naming.encoding ? encodeName(source) : lowerCase(replaceOdd(source, "nothing else"));
  return shorten(orUnderscore(name));
}

/**
 * The column of an attribute, or of a member when given `attribute_member`: the name itself, its ASCII letters in lower
 * case. Two names that differ in letter case only share a column.
 */
export function columnName(name: string): string {
  return shorten(orUnderscore(lowerCase(name).replaceAll("\0", "_")));
}

/**
 * The name itself when it has at most that many bytes in UTF-8; else as many of its characters as fit before `_` and
 * eight hex digits of the SHA-256 of the full name. The limit is 10 or more; 63 is what PostgreSQL allows.
 */
export function shorten(name: string, limitBytes = 63): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= limitBytes) return name;
  const suffix = `_${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}`;
  return bytes.toString("utf8", 0, characterBoundary(bytes, limitBytes - suffix.length)) + suffix;
}

function tableSource(entity: Entity, dataModel: DataModel): string {
  if (dataModel === "dm-by-entity") return entity.id;
  if (dataModel === "dm-by-entity-type") return entity.type;
  throw new AgentError(
    "UNSUPPORTED_DATA_MODEL",
    `naming the table of entity "${entity.id}": data model "${dataModel}" is not supported for NGSI-LD, use "dm-by-entity" or "dm-by-entity-type"`,
  );
}

function orUnderscore(name: string): string {
  return name === "" ? "_" : name;
}

function characterBoundary(bytes: Buffer, atMost: number): number {
  let end = atMost;
  while ((bytes.readUInt8(end) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return end;
}

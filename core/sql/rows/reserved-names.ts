import { nameLimits, shorten } from "../../ngsi/index.js";
import type { Dialect } from "../contract/dialect.js";
import type { SchemaName, TableName } from "../contract/table-name.js";

/** What the names depend on. */
type Naming = Pick<Dialect, "allowed" | "database">;

/**
 * The schema that events get instead of this one, by the last step before a name is used: the schema `deneb` is that of
 * the agent, so another name has a leading underscore.
 */
export function freeSchema({ database, schema }: SchemaName, { database: kind }: Naming): SchemaName {
  return { database: freed(database, /^deneb$/, kind), schema: freed(schema, /^deneb$/, kind) };
}

/** The table that events get instead of this one: tables whose names start with `deneb_` are those of the agent. */
export function freeTable(name: TableName, dialect: Naming): TableName {
  return dialect.allowed({ ...name, table: freed(name.table, /^deneb_/, dialect.database) });
}

function freed(name: string, reserved: RegExp, kind: Dialect["database"]): string {
  return reserved.test(comparedName(name)) ? shorten(`_${name}`, nameLimits[kind]) : name;
}

const ASCII = /^[\x21-\x7e]*$/;
const NOT_COMPARED = /\p{Mark}+|\p{Format}+|\s+$/gu;

/** The name as the least exact of the databases compares it: without case, marks, widths and blanks at the end. */
export function comparedName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  return name.normalize("NFKD").replace(NOT_COMPARED, "").toLowerCase();
}

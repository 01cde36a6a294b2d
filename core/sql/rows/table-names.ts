import { type Entity, type Naming, nameLimits, shorten, tableName } from "../../ngsi/index.js";
import type { Dialect } from "../contract/dialect.js";
import { RecentMap } from "../contract/recent-map.js";
import type { SchemaName, TableName } from "../contract/statement.js";

const MOST_REMEMBERED = 10_000;

/** What the table of an entity, or of one of its attributes, is derived from. */
export interface TableParts {
  readonly schemaName: SchemaName;
  readonly servicePath: string;
  /** The name of the attribute, if each attribute has its own table. */
  readonly attribute: string | undefined;
  /** The id or type that the table is named after. */
  readonly subject: string;
}

/** Names tables, and caches the last name of each subject: most entities are notified repeatedly. */
export class TableNames {
  readonly #naming: Naming;
  readonly #dialect: NameRules;
  readonly #known = new RecentMap<Known>(MOST_REMEMBERED);

  constructor(naming: Naming, dialect: NameRules) {
    this.#naming = naming;
    this.#dialect = dialect;
  }

  /** Throws code `NO_NAME` if the name would be empty. */
  of(entity: Entity, parts: TableParts): TableName {
    const { subject, attribute } = parts;
    const key = attribute === undefined ? subject : `${subject}\0${attribute}`;
    const known = this.#known.get(key);
    if (known !== undefined && isSame(known, entity, parts)) return known.name;

    const name = this.#named(entity, parts);
    this.#known.set(key, { api: entity.api, type: entity.type, parts, name });
    return name;
  }

  #named(entity: Entity, { schemaName: { database, schema }, servicePath, attribute }: TableParts): TableName {
    const place = attribute === undefined ? { servicePath } : { servicePath, attribute };
    return freeTable({ database, schema, table: tableName(entity, this.#naming, place) }, this.#dialect);
  }
}

interface Known extends Pick<Entity, "type"> {
  readonly api: Entity["api"];
  readonly parts: TableParts;
  readonly name: TableName;
}

/** Whether everything else that the name depends on is unchanged. */
function isSame({ api, type, parts }: Known, entity: Entity, { schemaName, servicePath }: TableParts): boolean {
  if (api !== entity.api || type !== entity.type || parts.servicePath !== servicePath) return false;
  const known = parts.schemaName;
  return known === schemaName || (known.database === schemaName.database && known.schema === schemaName.schema);
}

/** What the names depend on. */
type NameRules = Pick<Dialect, "allowed" | "database">;

/**
 * The schema that events are stored in. The schema `deneb` belongs to the agent, so events get `_deneb` instead. This
 * is the last step before a name is used.
 */
export function freeSchema({ database, schema }: SchemaName, { database: kind }: NameRules): SchemaName {
  return { database: freed(database, /^deneb$/, kind), schema: freed(schema, /^deneb$/, kind) };
}

/**
 * The table that events are stored in. Tables whose names start with `deneb_` belong to the agent, so events get a
 * leading underscore.
 */
export function freeTable(name: TableName, dialect: NameRules): TableName {
  return dialect.allowed({ ...name, table: freed(name.table, /^deneb_/, dialect.database) });
}

function freed(name: string, reserved: RegExp, kind: Dialect["database"]): string {
  return reserved.test(comparedName(name)) ? shorten(`_${name}`, nameLimits[kind]) : name;
}

const ASCII = /^[\x21-\x7e]*$/;
const NOT_COMPARED = /\p{Mark}+|\p{Format}+|\s+$/gu;

/** The name as the least strict database compares it: without case, diacritics, widths and trailing spaces. */
export function comparedName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  return name.normalize("NFKD").replace(NOT_COMPARED, "").toLowerCase();
}

// A shortened name ends in a hash. A full name of this form gets a comment too, which is correct.
const SHORTENED = /_[0-9a-f]{8}$/;

/** Whether the name may have been shortened. */
export function isShortened({ table }: TableName, { database }: Pick<Dialect, "database">): boolean {
  // A name cut at a character boundary may lack up to three bytes.
  return table.length >= nameLimits[database].length - 3 && SHORTENED.test(table);
}

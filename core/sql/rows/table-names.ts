import { type Entity, type Naming, nameLimits, shorten, tableName } from "../../ngsi/index.js";
import type { Dialect } from "../contract/dialect.js";
import { RecentMap } from "../contract/recent-map.js";
import type { SchemaName, TableName } from "../contract/statement.js";

const MOST_REMEMBERED = 10_000;

/** Where an entity, or one of its attributes, is kept. */
export interface Place {
  readonly home: SchemaName;
  readonly servicePath: string;
  /** Its name, where each attribute has a table of its own. */
  readonly attribute: string | undefined;
  /** The id or type that the table is named after. */
  readonly subject: string;
}

/** Names tables, and remembers the name that each subject had last: most entities come again and again. */
export class TableNames {
  readonly #naming: Naming;
  readonly #dialect: NameRules;
  readonly #known = new RecentMap<Known>(MOST_REMEMBERED);

  constructor(naming: Naming, dialect: NameRules) {
    this.#naming = naming;
    this.#dialect = dialect;
  }

  /** Throws code `NO_NAME` where there is nothing to name the table after. */
  of(entity: Entity, place: Place): TableName {
    const { subject, attribute } = place;
    const key = attribute === undefined ? subject : `${subject}\0${attribute}`;
    const known = this.#known.get(key);
    if (known !== undefined && isSame(known, entity, place)) return known.name;

    const name = this.#named(entity, place);
    this.#known.set(key, { api: entity.api, type: entity.type, place, name });
    return name;
  }

  #named(entity: Entity, { home: { database, schema }, servicePath, attribute }: Place): TableName {
    const place = attribute === undefined ? { servicePath } : { servicePath, attribute };
    return freeTable({ database, schema, table: tableName(entity, this.#naming, place) }, this.#dialect);
  }
}

interface Known extends Pick<Entity, "type"> {
  readonly api: Entity["api"];
  readonly place: Place;
  readonly name: TableName;
}

/** Whether everything else that a name is made of is as it was. */
function isSame({ api, type, place }: Known, entity: Entity, { home, servicePath }: Place): boolean {
  if (api !== entity.api || type !== entity.type || place.servicePath !== servicePath) return false;
  return place.home === home || (place.home.database === home.database && place.home.schema === home.schema);
}

/** What the names depend on. */
type NameRules = Pick<Dialect, "allowed" | "database">;

/**
 * The schema that events get instead of this one, by the last step before a name is used: the schema `deneb` is that of
 * the agent, so another name has a leading underscore.
 */
export function freeSchema({ database, schema }: SchemaName, { database: kind }: NameRules): SchemaName {
  return { database: freed(database, /^deneb$/, kind), schema: freed(schema, /^deneb$/, kind) };
}

/** The table that events get instead of this one: tables whose names start with `deneb_` are those of the agent. */
export function freeTable(name: TableName, dialect: NameRules): TableName {
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

// What `shorten` makes of a longer name ends in a hash. A full name that looks so gets a true note, too.
const SHORTENED = /_[0-9a-f]{8}$/;

/** Whether the name may have been shortened. */
export function isShortened({ table }: TableName, { database }: Pick<Dialect, "database">): boolean {
  // A name cut at a character boundary may lack up to three bytes.
  return table.length >= nameLimits[database].length - 3 && SHORTENED.test(table);
}

import { type Entity, type Naming, nameLimits, tableName } from "../../ngsi/index.js";
import type { Dialect } from "../contract/dialect.js";
import { RecentMap } from "../contract/recent-map.js";
import type { SchemaName, TableName } from "../contract/statement.js";
import { freeTable, type NameRules } from "./admission.js";

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

// A shortened name ends in a hash. A full name of this form gets a comment too, which is correct.
const SHORTENED = /_[0-9a-f]{8}$/;

/** Whether the name may have been shortened. */
export function isShortened({ table }: TableName, { database }: Pick<Dialect, "database">): boolean {
  // A name cut at a character boundary may lack up to three bytes.
  return table.length >= nameLimits[database].length - 3 && SHORTENED.test(table);
}

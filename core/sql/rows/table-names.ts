import { type Entity, type Naming, tableName } from "../../ngsi/index.js";
import type { Dialect } from "../contract/dialect.js";
import { RecentMap } from "../contract/recent-map.js";
import type { SchemaName, TableName } from "../contract/table-name.js";
import { freeTable } from "./reserved-names.js";

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
  readonly #dialect: Pick<Dialect, "allowed" | "database">;
  readonly #known = new RecentMap<Known>(MOST_REMEMBERED);

  constructor(naming: Naming, dialect: Pick<Dialect, "allowed" | "database">) {
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

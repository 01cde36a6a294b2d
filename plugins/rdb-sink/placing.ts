import {
  type Address,
  databaseName,
  type Entity,
  eventHeaders,
  mappedEvent,
  type Naming,
  schemaName,
} from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";
import type { Admission } from "./admission.js";
import type { Dialect } from "./dialects/dialect.js";
import { entityOf } from "./entity-of.js";
import type { PlacedRow } from "./grouping.js";
import { ALTERATION_TYPE } from "./layouts/column.js";
import type { Arrival, Layout } from "./layouts/layout.js";
import { freeSchema } from "./reserved-names.js";
import type { SchemaName } from "./table-name.js";
import type { TableNames } from "./table-names.js";

export interface Placing {
  readonly naming: Naming;
  /** Where the rows of an address go. */
  readonly homeOf: HomeOf;
  readonly layout: Layout;
  readonly tableNames: TableNames;
  /** Whether names after the name mappings are used. */
  readonly mapped: boolean;
}

export type HomeOf = (address: Address) => SchemaName;

/** What decides about homes. */
export interface HomeRules {
  readonly naming: Naming;
  readonly dialect: Pick<Dialect, "allowed" | "database">;
  readonly admission: Admission;
}

/** Knows the answer of the last question: most events of a batch have the same address. */
export function homesBy({ naming, dialect, admission }: HomeRules): HomeOf {
  let last: { readonly address: Address; readonly home: SchemaName } | undefined;
  return (address) => {
    if (last === undefined || !isSame(address, last.address)) {
      const named = { database: databaseName(address, naming) ?? "", schema: schemaName(address, naming) };
      const home = freeSchema(named, dialect);
      admission.check(address, home);
      last = { address, home };
    }
    return last.home;
  };
}

function isSame(one: Address, other: Address): boolean {
  return one.service === other.service && one.servicePath === other.servicePath && one.api === other.api;
}

/** The rows of an event and their tables; none for an entity without attributes. */
export function placedRows(event: Event, placing: Placing): readonly PlacedRow[] {
  const { naming, homeOf, mapped } = placing;
  const named = mapped ? mappedEvent(event) : event;
  const entity = entityOf(named);
  const arrival = {
    epochMillis: Number(header(named, entity, eventHeaders.timestamp)),
    servicePath: named.headers[eventHeaders.servicePath] ?? "/",
  };
  const origin = { event, removed: isRemoved(entityOf(event)), home: homeOf(addressOf(named, entity)), arrival };
  if (naming.dataModel !== "dm-by-attribute") return rowsOf(entity, undefined, origin, placing);
  return entity.attributes.flatMap((attribute) =>
    rowsOf({ ...entity, attributes: [attribute] }, attribute.name, origin, placing),
  );
}

/** What the rows of an event have in common. */
interface Origin {
  readonly event: Event;
  readonly removed: boolean;
  readonly home: SchemaName;
  readonly arrival: Arrival;
}

/** What goes to one table: the entity, or one of its attributes. */
function rowsOf(
  part: Entity,
  attribute: string | undefined,
  { event, removed, home, arrival }: Origin,
  { naming, layout, tableNames }: Placing,
): readonly PlacedRow[] {
  const rows = layout.rows(part, arrival);
  if (rows.length === 0) return [];
  const subject = subjectOf(part, naming);
  const name = tableNames.of(part, { home, servicePath: arrival.servicePath, attribute, subject });
  // Written out: spreading the row costs as much as all else here.
  return rows.map(({ columns, cells, values, native }) => ({
    columns,
    cells,
    values,
    native,
    name,
    subject,
    event,
    removed,
  }));
}

/** The schema of the rows of an event. */
export function schemaOfEvent(event: Event, { homeOf, mapped }: Pick<Placing, "homeOf" | "mapped">): SchemaName {
  const named = mapped ? mappedEvent(event) : event;
  return homeOf(addressOf(named, entityOf(named)));
}

function addressOf(named: Event, entity: Entity): Address {
  return {
    service: header(named, entity, eventHeaders.service),
    servicePath: named.headers[eventHeaders.servicePath] ?? "/",
    api: entity.api ?? "ld",
  };
}

function subjectOf({ id, type }: Entity, { dataModel }: Naming): string {
  return dataModel.includes("type") ? type : id;
}

function isRemoved({ api, attributes }: Entity): boolean {
  if (api !== "v2") return false;
  return attributes.some(({ name, value }) => name === ALTERATION_TYPE && value.text === "entityDelete");
}

function header({ headers }: Event, { id }: Entity, name: string): string {
  const value = headers[name];
  if (value !== undefined) return value;
  throw new AgentError("HEADER_MISSING", `storing entity ${JSON.stringify(id)}: its event has no header "${name}"`, {
    retryable: false,
  });
}

import {
  type Address,
  databaseName,
  type Entity,
  entityOf,
  eventHeaders,
  mappedEvent,
  type Naming,
  schemaName,
  withServiceHash,
  withShortNames,
} from "../../ngsi/index.js";
import { AgentError, type Event } from "../../sdk/index.js";
import type { Dialect } from "../contract/dialect.js";
import type { SchemaName } from "../contract/statement.js";
import { type Admission, freeSchema } from "./admission.js";
import { isRemoved } from "./attribute-columns.js";
import type { PlacedRow } from "./grouping.js";
import type { Arrival, Layout } from "./layout.js";
import type { TableNames } from "./table-names.js";

export interface PlacementParts {
  readonly naming: Naming;
  /** The schema for the rows of an address. */
  readonly schemaOf: SchemaOf;
  readonly layout: Layout;
  readonly tableNames: TableNames;
  readonly names: NameChoice;
}

/** Which names of an event determine its schema, tables and columns. */
export interface NameChoice {
  /** Whether they are those after the name mappings. */
  readonly mapped: boolean;
  /** Whether attributes whose names are IRIs are called by the last part. */
  readonly short: boolean;
}

export type SchemaOf = (address: Address) => SchemaName;

/** What the schema of an address depends on. */
interface SchemaRules {
  readonly naming: Naming;
  readonly dialect: Pick<Dialect, "allowed" | "database">;
  readonly admission: Admission;
  /** Called with the service of each schema. */
  readonly stores: (service: string, schema: SchemaName) => void;
}

/** Caches the last result: most events of a batch have the same address. */
export function schemasBy({ naming, dialect, admission, stores }: SchemaRules): SchemaOf {
  let last: { readonly address: Address; readonly name: SchemaName } | undefined;
  return (address) => {
    if (last === undefined || !isSame(address, last.address)) {
      const named = { database: databaseName(address, naming) ?? "", schema: schemaName(address, naming) };
      const free = freeSchema(named, dialect);
      const name = naming.serviceHash === true ? hashed(free, address.service, naming) : free;
      admission.check(address, name);
      stores(address.service, name);
      last = { address, name };
    }
    return last.name;
  };
}

/** A schema that is named after the service path has no hash, and neither has the database of the configuration. */
function hashed({ database, schema }: SchemaName, service: string, naming: Naming): SchemaName {
  return {
    database: database === "" ? database : withServiceHash(database, service, naming),
    schema: naming.dataModel.endsWith("-schema") ? schema : withServiceHash(schema, service, naming),
  };
}

function isSame(one: Address, other: Address): boolean {
  return one.service === other.service && one.servicePath === other.servicePath && one.api === other.api;
}

/** The event with the names that determine its schema, tables and columns. */
export function namedEvent(event: Event, { mapped, short }: NameChoice): Event {
  const named = mapped ? mappedEvent(event) : event;
  return short ? { ...named, body: withShortNames(entityOf(named)) } : named;
}

/**
 * The rows of an event and their tables; none for an entity without attributes. Schema, table and columns have the
 * names that were chosen; id, type and service path in the rows are those of the notification.
 */
export function placedRows(event: Event, placement: PlacementParts): readonly PlacedRow[] {
  const { naming, schemaOf, names } = placement;
  const named = namedEvent(event, names);
  const entity = entityOf(named);
  const address = addressOf(named, entity);
  const original = named === event ? entity : entityOf(event);
  // Without a spread: it makes the object grow member by member.
  const origin = {
    event,
    id: original.id,
    type: original.type,
    removed: isRemoved(original),
    schemaName: schemaOf(address),
    servicePath: address.servicePath,
    arrival: {
      epochMillis: receivedAt(named, entity),
      servicePath: event.headers[eventHeaders.servicePath] ?? "/",
      notifiedAt: event.headers[eventHeaders.notifiedAt],
      subscriptionId: event.headers[eventHeaders.subscriptionId],
      sequence: event.headers[eventHeaders.sequence],
    },
  };
  if (naming.dataModel !== "dm-by-attribute") return rowsOf(entity, undefined, origin, placement);
  return entity.attributes.flatMap((attribute) =>
    rowsOf({ ...entity, attributes: [attribute] }, attribute.name, origin, placement),
  );
}

/** What the rows of an event have in common. */
interface Origin {
  readonly event: Event;
  /** As the notification has them. */
  readonly id: string;
  readonly type: string;
  readonly removed: boolean;
  readonly schemaName: SchemaName;
  /** The one that tables are named after. */
  readonly servicePath: string;
  readonly arrival: Arrival;
}

/** The part of an entity that is stored in one table: all of it, or one attribute. */
function rowsOf(
  part: Entity,
  attribute: string | undefined,
  { event, id, type, removed, schemaName, servicePath, arrival }: Origin,
  { naming, layout, tableNames }: PlacementParts,
): readonly PlacedRow[] {
  const rows = layout.rows(identified(part, id, type), arrival);
  if (rows.length === 0) return [];
  const subject = subjectOf(part, naming);
  const name = tableNames.of(part, { schemaName, servicePath, attribute, subject });
  // Not `{ ...row }`: spreading takes as long as everything else here.
  return rows.map(({ columns, cells, values, native, attributes }) => ({
    columns,
    cells,
    values,
    native,
    attributes,
    name,
    subject,
    event,
    removed,
  }));
}

/** The entity with the id and type of the notification. */
function identified(entity: Entity, id: string, type: string): Entity {
  return entity.id === id && entity.type === type ? entity : { ...entity, id, type };
}

/** The schema of the rows of an event. */
export function schemaOfEvent(
  event: Event,
  { schemaOf, names }: Pick<PlacementParts, "schemaOf" | "names">,
): SchemaName {
  const named = namedEvent(event, { ...names, short: false });
  return schemaOf(addressOf(named, entityOf(named)));
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

const MILLIS = /^-?\d+(?:\.\d+)?$/;
const MOST_SHOWN = 40;

/** An interceptor may have written anything there. */
function receivedAt(named: Event, entity: Entity): number {
  const text = header(named, entity, eventHeaders.timestamp);
  if (MILLIS.test(text)) return Number(text);
  const message = `storing entity ${JSON.stringify(entity.id)}: its header "${eventHeaders.timestamp}" is ${JSON.stringify(text.slice(0, MOST_SHOWN))}`;
  throw new AgentError("INVALID_TIME", `${message}, which is not milliseconds since 1970`, { retryable: false });
}

function header({ headers }: Event, { id }: Entity, name: string): string {
  const value = headers[name];
  if (value !== undefined) return value;
  throw new AgentError("HEADER_MISSING", `storing entity ${JSON.stringify(id)}: its event has no header "${name}"`, {
    retryable: false,
  });
}

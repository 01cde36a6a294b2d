import {
  type Address,
  databaseName,
  type Entity,
  eventHeaders,
  isEntity,
  mappedEvent,
  type Naming,
  schemaName,
} from "../../ngsi/index.js";
import { AgentError, type Event } from "../../sdk/index.js";
import type { Dialect } from "../contract/dialect.js";
import type { SchemaName } from "../contract/statement.js";
import { type Admission, freeSchema } from "./admission.js";
import { ALTERATION_TYPE } from "./column-layout.js";
import type { PlacedRow } from "./grouping.js";
import type { Arrival, Layout } from "./layout.js";
import type { TableNames } from "./table-names.js";

export interface PlacementParts {
  readonly naming: Naming;
  /** The schema for the rows of an address. */
  readonly schemaOf: SchemaOf;
  readonly layout: Layout;
  readonly tableNames: TableNames;
  /** Whether names after the name mappings are used. */
  readonly mapped: boolean;
}

export type SchemaOf = (address: Address) => SchemaName;

/** What the schema of an address depends on. */
export interface SchemaRules {
  readonly naming: Naming;
  readonly dialect: Pick<Dialect, "allowed" | "database">;
  readonly admission: Admission;
}

/** Caches the last result: most events of a batch have the same address. */
export function schemasBy({ naming, dialect, admission }: SchemaRules): SchemaOf {
  let last: { readonly address: Address; readonly name: SchemaName } | undefined;
  return (address) => {
    if (last === undefined || !isSame(address, last.address)) {
      const named = { database: databaseName(address, naming) ?? "", schema: schemaName(address, naming) };
      const name = freeSchema(named, dialect);
      admission.check(address, name);
      last = { address, name };
    }
    return last.name;
  };
}

function isSame(one: Address, other: Address): boolean {
  return one.service === other.service && one.servicePath === other.servicePath && one.api === other.api;
}

/** The rows of an event and their tables; none for an entity without attributes. */
export function placedRows(event: Event, placement: PlacementParts): readonly PlacedRow[] {
  const { naming, schemaOf, mapped } = placement;
  const named = mapped ? mappedEvent(event) : event;
  const entity = entityOf(named);
  const arrival = {
    epochMillis: Number(header(named, entity, eventHeaders.timestamp)),
    servicePath: named.headers[eventHeaders.servicePath] ?? "/",
  };
  const origin = {
    event,
    removed: isRemoved(entityOf(event)),
    schemaName: schemaOf(addressOf(named, entity)),
    arrival,
  };
  if (naming.dataModel !== "dm-by-attribute") return rowsOf(entity, undefined, origin, placement);
  return entity.attributes.flatMap((attribute) =>
    rowsOf({ ...entity, attributes: [attribute] }, attribute.name, origin, placement),
  );
}

/** What the rows of an event have in common. */
interface Origin {
  readonly event: Event;
  readonly removed: boolean;
  readonly schemaName: SchemaName;
  readonly arrival: Arrival;
}

/** The part of an entity that is stored in one table: all of it, or one attribute. */
function rowsOf(
  part: Entity,
  attribute: string | undefined,
  { event, removed, schemaName, arrival }: Origin,
  { naming, layout, tableNames }: PlacementParts,
): readonly PlacedRow[] {
  const rows = layout.rows(part, arrival);
  if (rows.length === 0) return [];
  const subject = subjectOf(part, naming);
  const name = tableNames.of(part, { schemaName, servicePath: arrival.servicePath, attribute, subject });
  // Not `{ ...row }`: spreading takes as long as everything else here.
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
export function schemaOfEvent(
  event: Event,
  { schemaOf, mapped }: Pick<PlacementParts, "schemaOf" | "mapped">,
): SchemaName {
  const named = mapped ? mappedEvent(event) : event;
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

function isRemoved({ api, attributes }: Entity): boolean {
  if (api !== "v2") return false;
  return attributes.some(({ name, value }) => name === ALTERATION_TYPE && value.text === "entityDelete");
}

function header({ headers }: Event, { id }: Entity, name: string): string {
  const value = headers[name];
  if (value !== undefined) return value;
  throw new AgentError("HEADER_MISSING", `storing entity ${JSON.stringify(id)}: its event has no header "${name}"`);
}

/** The entity in the body of an event. */
export function entityOf({ body }: Event): Entity {
  if (isEntity(body)) return body;
  throw new AgentError(
    "NOT_AN_ENTITY",
    `storing an event: its body is ${typeof body}, not an entity with id, type and attributes`,
  );
}

import { type Entity, eventHeaders, isoTime, mappedEvent, type Naming, schemaName, tableName } from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";
import type { Dialect } from "./dialects/dialect.js";
import { entityOf } from "./entity-of.js";
import type { PlacedRow } from "./grouping.js";
import type { ColumnLayout } from "./layouts/column.js";

export interface Placing {
  readonly naming: Naming;
  readonly layout: ColumnLayout;
  readonly dialect: Dialect;
  /** Whether names after the name mappings are used. */
  readonly mapped: boolean;
}

/** The row of an event and its table; undefined for an entity without attributes. */
export function placedRow(event: Event, { naming, layout, dialect, mapped }: Placing): PlacedRow | undefined {
  const named = mapped ? mappedEvent(event) : event;
  const entity = entityOf(named);
  const row = layout.row(entity, receivedAt(named, entity));
  if (row === undefined) return undefined;

  const { servicePath: pathHeader, service: serviceHeader } = eventHeaders;
  const servicePath = named.headers[pathHeader] ?? "/";
  const address = { service: header(named, entity, serviceHeader), servicePath, api: entity.api ?? "ld" } as const;
  const table = tableName(entity, naming, { servicePath });
  const name = dialect.allowed({ schema: schemaName(address, naming), table });
  const subject = naming.dataModel === "dm-by-entity" ? entity.id : entity.type;
  return { ...row, name, subject, event };
}

function receivedAt(event: Event, entity: Entity): string {
  return isoTime(Number(header(event, entity, eventHeaders.timestamp)));
}

function header({ headers }: Event, { id }: Entity, name: string): string {
  const value = headers[name];
  if (value !== undefined) return value;
  throw new AgentError("HEADER_MISSING", `storing entity ${JSON.stringify(id)}: its event has no header "${name}"`);
}

import { columnName, type Entity, eventHeaders, mappedEvent } from "deneb/ngsi";
import type { Context, Event, Explanation } from "deneb/sdk";
import type { RdbConfig } from "./config.js";
import type { Dialect, TableRows } from "./dialects/dialect.js";
import { entityOf } from "./entity-of.js";
import { RdbSink } from "./rdb-sink.js";
import type { Statement } from "./statement.js";
import { storeKinds } from "./store-kinds.js";

/** What the sink would send for an event to an empty database: the sink itself, with a driver that writes it down. */
export async function explainEvent(config: RdbConfig, event: Event, context: Context): Promise<Explanation> {
  const store = storeKinds[config.rdb_dialect].open(config, context);
  const sent: Statement[] = [];
  const tables: TableRows[] = [];
  const driver = {
    probe: async () => undefined,
    read: async () => [],
    write: async (statements: readonly Statement[]) => {
      sent.push(...statements);
      return 0;
    },
    close: async () => undefined,
  };
  const dialect: Dialect = {
    ...store.dialect,
    insert: (rows) => {
      tables.push(rows);
      return store.dialect.insert(rows);
    },
  };
  const sink = new RdbSink(config, context, { ...store, driver, dialect });
  await sink.persist({ events: [event] }, new AbortController().signal);
  const named = config.enable_name_mappings ? mappedEvent(event) : event;
  return {
    writes: tables.map(({ name, columns, rows }) => ({ destination: { ...name }, columns, rows })),
    statements: sent.flatMap(({ text, runs }) =>
      runs.map((parameters) => ({ text: text.trim().replaceAll(/\s*\n\s*/g, " "), parameters })),
    ),
    notes: [...mappingNotes(event, named), ...tables.flatMap((table) => nameNotes(named, table))],
  };
}

function mappingNotes(event: Event, named: Event): readonly string[] {
  const [before, after] = [entityOf(event), entityOf(named)];
  const attributes = before.attributes.map(({ name }, index) => ({
    what: "attribute",
    from: name,
    to: after.attributes[index]?.name ?? name,
  }));
  return [
    { what: "service", from: serviceOf(event), to: serviceOf(named) },
    { what: "entity", from: before.id, to: after.id },
    { what: "entity type", from: before.type, to: after.type },
    ...attributes,
  ]
    .filter(({ from, to }) => from !== to)
    .map(({ what, from, to }) => `name mappings call ${what} "${from}" "${to}"`);
}

function nameNotes(event: Event, { name, columns, subject }: TableRows): readonly string[] {
  const entity = entityOf(event);
  const names = namesOf(entity);
  // The columns of attributes and their members come last, in the order of the document.
  const own = columns.slice(columns.length - names.length);
  const places = [
    { what: "service", from: serviceOf(event), where: `schema "${name.schema}"`, same: name.schema },
    { what: "table name", from: subject, where: `table "${name.table}"`, same: name.table },
  ];
  return [
    ...places.filter(({ from, same }) => from !== same).map(({ what, from, where }) => `${what} "${from}" is ${where}`),
    ...names.flatMap((wanted, index) => columnNote(wanted, own[index], columns)),
  ];
}

/** Attributes and members by the names their columns would have. */
function namesOf({ attributes }: Entity): readonly string[] {
  return attributes.flatMap(({ name, members }) => [name, ...members.map((member) => `${name}_${member.name}`)]);
}

function columnNote(wanted: string, column: string | undefined, all: readonly string[]): readonly string[] {
  if (column === undefined || column === wanted) return [];
  const plain = columnName(wanted);
  const rival = column !== plain && all.includes(plain) ? `; column "${plain}" is that of another name` : "";
  return [`"${wanted}" is column "${column}"${rival}`];
}

function serviceOf({ headers }: Event): string {
  return headers[eventHeaders.service] ?? "";
}

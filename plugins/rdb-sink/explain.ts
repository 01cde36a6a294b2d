import { columnName, type Entity, eventHeaders, mappedEvent, parseDataModel } from "deneb/ngsi";
import type { Context, Event, Explanation } from "deneb/sdk";
import type { RdbConfig } from "./config.js";
import type { Dialect, TableRows } from "./dialects/dialect.js";
import { entityOf } from "./entity-of.js";
import { namingOf } from "./naming-of.js";
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
    places: async () => [],
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
    writes: tables.map(({ name, columns, rows }) => ({
      destination: Object.fromEntries(Object.entries(name).filter(([, place]) => place !== "")),
      columns: columns.map((column) => column.name),
      rows,
    })),
    statements: sent.flatMap(({ text, runs }) =>
      runs.map((parameters) => ({ text: text.trim().replaceAll(/\s*\n\s*/g, " "), parameters })),
    ),
    notes: [...mappingNotes(event, named), ...tables.flatMap((table) => nameNotes(named, table, config))],
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

function nameNotes(event: Event, { name, columns }: TableRows, config: RdbConfig): readonly string[] {
  const entity = entityOf(event);
  const subject = subjectOf(entity, config);
  const places = [
    { what: "service", from: serviceOf(event), where: `schema "${name.schema}"`, same: name.schema },
    { what: "table name", from: subject ?? name.table, where: `table "${name.table}"`, same: name.table },
  ];
  return [
    ...places.filter(({ from, same }) => from !== same).map(({ what, from, where }) => `${what} "${from}" is ${where}`),
    ...columnNotes(
      entity,
      columns.map((column) => column.name),
      config,
    ),
  ];
}

/** What the table is named after; undefined in the models that join several names. */
function subjectOf({ id, type }: Entity, { data_model }: RdbConfig): string | undefined {
  const model = parseDataModel(data_model);
  if (model === "dm-by-entity") return id;
  return model === "dm-by-entity-type" ? type : undefined;
}

/** Of the column layout of NGSI-LD, where each attribute and member has a column of its own. */
function columnNotes(entity: Entity, columns: readonly string[], config: RdbConfig): readonly string[] {
  if (config.attr_persistence !== "column" || entity.api === "v2") return [];
  const names = namesOf(entity);
  // The columns of attributes and their members come last, in the order of the document.
  const own = columns.slice(columns.length - names.length);
  return names.flatMap((wanted, index) => columnNote(wanted, own[index], { all: columns, config }));
}

/** Attributes and members by the names their columns would have. */
function namesOf({ attributes }: Entity): readonly string[] {
  return attributes.flatMap(({ name, members }) => [name, ...members.map((member) => `${name}_${member.name}`)]);
}

interface Columns {
  readonly all: readonly string[];
  readonly config: RdbConfig;
}

function columnNote(wanted: string, column: string | undefined, { all, config }: Columns): readonly string[] {
  if (column === undefined || column === wanted) return [];
  const plain = columnName(wanted, namingOf(config));
  const rival = column !== plain && all.includes(plain) ? `; column "${plain}" is that of another name` : "";
  return [`"${wanted}" is column "${column}"${rival}`];
}

function serviceOf({ headers }: Event): string {
  return headers[eventHeaders.service] ?? "";
}

import { columnName, type Entity, entityOf, eventHeaders, type Naming } from "../ngsi/index.js";
import type { Event } from "../sdk/index.js";
import type { Dialect, TableRows } from "./contract/dialect.js";
import type { LastRow } from "./contract/last-row.js";
import { namingOf, type SqlConfig } from "./contract/schema.js";
import type { KeyedRows, TableName } from "./contract/statement.js";
import { layoutOf, nameChoiceOf } from "./row-builder.js";
import { ALTERATION_TYPE, claimsOf, isRemoved, withColumns } from "./rows/attribute-columns.js";
import { namedEvent } from "./rows/table-placement.js";

/** The writes that a dialect was asked for. */
export interface RecordedWrites {
  readonly histories: TableRows[];
  readonly lastRows: LastRow[];
  readonly removed: KeyedRows[];
}

interface NoteRules {
  readonly config: SqlConfig;
  readonly dialect: Dialect;
}

/**
 * A sentence for each name or value that is stored differently, and for what a row represents if that is not an entity.
 */
export function explainedNotes(event: Event, recorded: RecordedWrites, rules: NoteRules): readonly string[] {
  const { config, dialect } = rules;
  const naming = namingOf(config, dialect.database);
  const choice = nameChoiceOf(config);
  const mapped = namedEvent(event, { ...choice, short: false });
  const named = namedEvent(event, choice);
  const names = [...recorded.histories, ...recorded.lastRows, ...recorded.removed].map(({ name }) => name);
  return [
    ...mappingNotes(event, mapped),
    ...shortNotes(entityOf(mapped), entityOf(named)),
    ...names.flatMap((name) => nameNotes(named, name, naming)),
    ...layoutNotes[config.attr_persistence](entityOf(named), naming, rules),
    ...lastDataNotes(recorded, config),
  ];
}

function mappingNotes(event: Event, named: Event): readonly string[] {
  const [before, after] = [entityOf(event), entityOf(named)];
  const attributes = before.attributes.map(({ name }, index) => ({
    what: "attribute",
    from: name,
    to: after.attributes[index]?.name ?? name,
    kept: false,
  }));
  return [
    { what: "service", from: serviceOf(event), to: serviceOf(named), kept: false },
    { what: "service path", from: pathOf(event), to: pathOf(named), kept: true },
    { what: "entity", from: before.id, to: after.id, kept: true },
    { what: "entity type", from: before.type, to: after.type, kept: true },
    ...attributes,
  ]
    .filter(({ from, to }) => from !== to)
    .map(({ what, from, to, kept }) => {
      const rows = kept ? `, in names; the rows keep "${from}"` : "";
      return `name mappings call ${what} "${from}" "${to}"${rows}`;
    });
}

function shortNotes(before: Entity, after: Entity): readonly string[] {
  return before.attributes.flatMap(({ name }, index) => {
    const short = after.attributes[index]?.name ?? name;
    return short === name ? [] : [`attribute "${name}" is called "${short}": attr_short_names = true`];
  });
}

function nameNotes(event: Event, { schema, table }: TableName, naming: Naming): readonly string[] {
  const subject = subjectOf(entityOf(event), naming);
  return [
    { what: "service", from: serviceOf(event), where: `schema "${schema}"`, same: schema },
    { what: "table name", from: subject ?? table, where: `table "${table}"`, same: table },
  ]
    .filter(({ from, same }) => from !== same)
    .map(({ what, from, where }) => `${what} "${from}" is ${where}`);
}

/** The name that the table is derived from; undefined in data models that join several names. */
function subjectOf({ id, type }: Entity, { dataModel }: Naming): string | undefined {
  if (dataModel === "dm-by-entity") return id;
  return dataModel === "dm-by-entity-type" ? type : undefined;
}

const layoutNotes = { column: columnLayoutNotes, row: rowLayoutNotes } as const satisfies Record<
  SqlConfig["attr_persistence"],
  (entity: Entity, naming: Naming, rules: NoteRules) => readonly string[]
>;

function columnLayoutNotes(entity: Entity, naming: Naming, { config, dialect }: NoteRules): readonly string[] {
  const layout = layoutOf(config, naming, dialect);
  const [row] = layout.rows(entity, { epochMillis: 0, servicePath: "/" });
  const all = row?.columns ?? [];
  const wanted = wantedColumns(entity, config);
  // The columns of attributes and their members come last, in the order of the document.
  const own = all.slice(all.length - wanted.length);
  return [
    ...wanted.flatMap((name, index) => columnNote(name, own[index], { all, naming })),
    ...(entity.api === "v2" ? [...alterationNote(entity), ...metadataNote(entity, config)] : []),
  ];
}

/** The column names that attributes and members would have. */
function wantedColumns(entity: Entity, { attr_metadata_store }: SqlConfig): readonly string[] {
  const { attributes } = withColumns(entity);
  const claims = attributes.flatMap((attribute) => claimsOf(attribute, entity, { metadata: attr_metadata_store }));
  return claims.map(({ name }) => name);
}

interface Columns {
  readonly all: readonly string[];
  readonly naming: Naming;
}

function columnNote(wanted: string, column: string | undefined, { all, naming }: Columns): readonly string[] {
  if (column === undefined || column === wanted) return [];
  const plain = columnName(wanted, naming);
  const rival = column !== plain && all.includes(plain) ? `; column "${plain}" is that of another name` : "";
  return [`"${wanted}" is column "${column}"${rival}`];
}

function rowLayoutNotes(entity: Entity, naming: Naming, { config }: NoteRules): readonly string[] {
  if (entity.attributes.length === 0) return [];
  const column = (name: string) => `"${columnName(name, naming)}"`;
  const metadata = config.attr_metadata_store ? `, its metadata in ${column("attrMd")}` : "";
  const where = `its name stands in column ${column("attrName")}, its value in ${column("attrValue")}${metadata}`;
  return [`each attribute is a row of its own: ${where}`, ...metadataNote(entity, config)];
}

function metadataNote({ attributes }: Entity, { attr_metadata_store }: SqlConfig): readonly string[] {
  if (attr_metadata_store || attributes.every(({ members }) => members.length === 0)) return [];
  return ["metadata are not stored: attr_metadata_store = false"];
}

function alterationNote(entity: Entity): readonly string[] {
  if (isRemoved(entity) || !entity.attributes.some(({ name }) => name === ALTERATION_TYPE)) return [];
  return [`attribute "${ALTERATION_TYPE}" says why the broker notifies and is not stored`];
}

function lastDataNotes({ lastRows, removed }: RecordedWrites, { last_data_mode }: SqlConfig): readonly string[] {
  const history = last_data_mode === "upsert" ? ["no row of history is added: last_data_mode = upsert"] : [];
  return [
    ...lastRows.map(({ name, key, time }) => {
      const one = key.map((column) => `"${column}"`).join(" and ");
      return `table "${name.table}" keeps one row for each ${one}; a row changes it when its "${time.name}" is newer`;
    }),
    ...removed.map(({ name }) => `the entity is removed: its row in table "${name.table}" is deleted`),
    ...history,
  ];
}

function serviceOf({ headers }: Event): string {
  return headers[eventHeaders.service] ?? "";
}

function pathOf({ headers }: Event): string {
  return headers[eventHeaders.servicePath] ?? "/";
}

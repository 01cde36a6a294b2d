import { AgentError, type Event } from "../../sdk/index.js";
import type { Dialect } from "../contract/dialect.js";
import type { TableBatch } from "../rows/grouping.js";
import { isIdentityIn, type KnownColumns } from "./known-tables.js";

/** Columns of a batch that must take none of its values. */
export interface RefusedColumns {
  /** One whose values the database may store in another one. */
  readonly mistaken: Mistaken | undefined;
  /** Those by which the database numbers the rows: a value takes the number of a later row, and the largest one leaves none. */
  readonly identities: readonly string[];
}

interface Mistaken {
  readonly column: string;
  readonly other: string;
  /** The number of all columns of the table. */
  readonly among: number;
}

/** Undefined where there are none. */
export function refusedColumns(
  names: readonly string[],
  known: KnownColumns | undefined,
  dialect: Pick<Dialect, "columnKey" | "mistaken">,
): RefusedColumns | undefined {
  const identities =
    known === undefined ? [] : names.filter((column) => isIdentityIn(known, dialect.columnKey(column)));
  const mistaken = mistakenIn(names, known, dialect);
  return mistaken === undefined && identities.length === 0 ? undefined : { mistaken, identities };
}

function mistakenIn(
  names: readonly string[],
  known: KnownColumns | undefined,
  { columnKey, mistaken }: Pick<Dialect, "columnKey" | "mistaken">,
): Mistaken | undefined {
  if (mistaken === undefined) return undefined;
  const keys = new Set([...(known?.keys() ?? []), ...names.map(columnKey)]);
  for (const column of names) {
    const other = mistaken(column, keys);
    if (other !== undefined) return { column, other, among: keys.size };
  }
  return undefined;
}

/** Throws code `DATA_REFUSED` for rows with such a column. */
export function refuse(batch: TableBatch, { mistaken, identities }: RefusedColumns): void {
  if (mistaken !== undefined) {
    const { column, other, among } = mistaken;
    const reason = `among its ${among} columns the database takes "${column}" and "${other}" for one`;
    throw refusal(
      batch,
      `${reason}; give one of the attributes another name (enable_name_mappings), or use attr_persistence = row`,
    );
  }
  // A column of the key has a value in every row: the database numbers none.
  const numbering = identities.filter((column) => !batch.key.includes(column));
  if (numbering.length === 0) return;
  const reason = `the database numbers its rows by column "${numbering[0]}", which takes no value of an attribute`;
  const refused = batch.placed.filter(({ columns }) => columns.some((column) => numbering.includes(column)));
  throw refusal(
    batch,
    `${reason}; give the attribute another name (enable_name_mappings), or the column`,
    // Names may differ in letter case: then the events are found one by one.
    refused.length === 0 ? undefined : refused.map(({ event }) => event),
  );
}

function refusal({ name: { schema, table } }: TableBatch, reason: string, events?: readonly Event[]): AgentError {
  const message = `storing into table "${table}" of schema "${schema}": ${reason}`;
  return new AgentError("DATA_REFUSED", message, { retryable: false, events });
}

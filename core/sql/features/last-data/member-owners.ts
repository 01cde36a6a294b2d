import { createHash } from "node:crypto";
import { type ColumnNaming, columnKey, columnName } from "../../../ngsi/index.js";
import type { MemberChanges } from "../../contract/last-row.js";
import { MEMBERS, overflowColumn } from "../../rows/column-names.js";
import type { KeyOf } from "../../rows/grouping.js";
import type { AttributeColumns, Row } from "../../rows/layout.js";
import { type KnownColumns, spelledIn } from "../../tables/known-tables.js";

/** The columns of a row with the column of its owners, which comes last, and its cell; none for a row without members. */
interface OwnedRow {
  readonly columns: readonly string[];
  readonly cells: readonly [] | readonly [string];
}

/**
 * Which columns of a row of last data belong to the members of which attribute. A name does not tell: `a_b` may be the
 * member `b` of `a` or an attribute. So a column of the row lists an entry for each pair of an attribute and a column of
 * its members, and the next value of the attribute empties those it does not have itself. The row knows, so this holds
 * for other agents and after a restart.
 */
export class MemberOwners {
  readonly #naming: ColumnNaming;
  /** Of the database, as known columns have them. */
  readonly #key: KeyOf;
  readonly #list: string;
  readonly #owned = new WeakMap<readonly string[], OwnedRow>();
  readonly #changes = new WeakMap<
    readonly string[],
    { readonly known: KnownColumns; readonly changes: MemberChanges }
  >();

  constructor(naming: ColumnNaming, keyOf: KeyOf) {
    this.#naming = naming;
    this.#key = keyOf;
    this.#list = columnName(MEMBERS, naming);
  }

  /** Returns the same object for rows that share their list of columns. */
  owned({ columns, attributes }: Row): OwnedRow {
    const remembered = this.#owned.get(columns);
    if (remembered !== undefined) return remembered;

    const entries = this.#entries(attributes);
    const owned: OwnedRow =
      entries.length === 0 ? { columns, cells: [] } : { columns: [...columns, this.#list], cells: [entries.join("")] };
    this.#owned.set(columns, owned);
    return owned;
  }

  /** What else changes in the stored row, undefined for nothing. `kept` are columns that never change so. */
  changes(
    row: Pick<Row, "columns" | "attributes">,
    known: KnownColumns | undefined,
    kept: readonly string[],
  ): MemberChanges | undefined {
    if (row.attributes.length === 0 || known?.has(this.#key(this.#list)) !== true) return undefined;
    const remembered = this.#changes.get(row.columns);
    if (remembered?.known === known) return remembered.changes;

    const changes = this.#changesOf(row, known, kept);
    this.#changes.set(row.columns, { known, changes });
    return changes;
  }

  #changesOf(
    { columns, attributes }: Pick<Row, "columns" | "attributes">,
    known: KnownColumns,
    kept: readonly string[],
  ): MemberChanges {
    const keys = [...known.keys()];
    const besides = keys.map((key) => this.#besideOf(key));
    const others = new Set([...columns, ...kept, this.#list].map((column) => this.#key(column)).concat(besides));
    return {
      list: this.#list,
      emptied: keys.filter((key) => !others.has(key)).flatMap((key) => this.#emptied(key, attributes, known)),
      added: this.#entries(attributes),
      removed: attributes.flatMap(({ name, column, members }) => [
        ...this.#otherEntries(name, { column, owner: undefined, known }),
        ...members.flatMap((member) =>
          this.#otherEntries(member.name, { column: member.column, owner: column, known }),
        ),
      ]),
    };
  }

  #emptied(key: string, attributes: readonly AttributeColumns[], known: KnownColumns): MemberChanges["emptied"] {
    const own = spelledIn(known, key);
    const entries = attributes
      .filter((attribute) => key.startsWith(stemOf(attribute)))
      .map(({ column }) => this.#entry(column, own));
    if (entries.length === 0) return [];
    return [key, this.#besideOf(key)]
      .filter((column) => known.has(column))
      .map((column) => ({ column: spelledIn(known, column), entries }));
  }

  #entries(attributes: readonly AttributeColumns[]): readonly string[] {
    return attributes.flatMap(({ column, members }) => members.map((member) => this.#entry(column, member.column)));
  }

  /** The entries of other attributes that the column may have belonged to: `a` and `a_b` for `a_b_c`. */
  #otherEntries(
    name: string,
    { column, owner, known }: { column: string; owner: string | undefined; known: KnownColumns },
  ): readonly string[] {
    const entries: string[] = [];
    for (let at = name.indexOf("_"); at !== -1; at = name.indexOf("_", at + 1)) {
      const other = columnName(name.slice(0, at), this.#naming);
      if (other !== owner && known.has(this.#key(other))) entries.push(this.#entry(other, column));
    }
    return entries;
  }

  /** Of one length and between blanks, so that no entry is part of others, whatever the names. Rows keep it, whatever the database. */
  #entry(attribute: string, column: string): string {
    const key = (name: string) => columnKey(name, this.#naming);
    const pair = createHash("sha256").update(`${key(attribute)}\0${key(column)}`);
    return `${pair.digest("hex").slice(0, DIGITS)} `;
  }

  #besideOf(key: string): string {
    return this.#key(overflowColumn(key, this.#naming));
  }
}

const DIGITS = 12;

// Longer names may be shortened, and other characters replaced.
const LONGEST_STEM = 40;
const UNCHANGED = /^[A-Za-z0-9_]*/;

/** How the columns of all members of an attribute begin. It only saves looking for the entries of other columns. */
function stemOf({ name }: AttributeColumns): string {
  const [unchanged = ""] = UNCHANGED.exec(`${name}_`) ?? [];
  return unchanged.slice(0, LONGEST_STEM).toLowerCase();
}

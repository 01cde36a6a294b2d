import { createHash } from "node:crypto";
import { type ColumnNaming, columnKey, columnName, nameLimits, shorten } from "../../ngsi/index.js";

const HASH_DIGITS = 8;

/** An attribute or member that needs a column. */
export interface Claim {
  /** The column name that it would have. */
  readonly name: string;
  /** Identifies the attribute or member; names never contain NUL. */
  readonly origin: string;
  readonly of: "attribute" | "member";
}

/** Columns that no claim may have, besides overflow columns and the one of members. */
export interface ReservedColumns {
  readonly naming: ColumnNaming;
  /** Their keys. */
  readonly keys: ReadonlySet<string>;
}

/** The overflow column of a column: it stores values that do not fit, as JSON text. */
export function overflowColumn(column: string, naming: ColumnNaming): string {
  return columnName(`${column}${OVERFLOW}`, naming);
}

const OVERFLOW = "$json";

/** The column of a row of last data that tells which columns belong to the members of which attribute. */
export const MEMBERS = "deneb$members";

/**
 * The columns of the claims in the same order, all different and none reserved.
 *
 * If several names map to one column, the name that is the column keeps it, else the one that was only shortened for it (an
 * attribute before a member). The others get a suffix derived from their full name, so that they always get the same column.
 */
export function columnNames(claims: readonly Claim[], reserved: ReservedColumns): readonly string[] {
  const wishes = claims.map((claim) => wish(claim, reserved));
  const distinct = new Set(wishes.map(({ key }) => key));
  const clash = distinct.size < wishes.length || wishes.some(({ free }) => !free);
  if (!clash) return wishes.map(({ column }) => column);
  return resolved(wishes, { ...reserved, keys: new Set([...reserved.keys, ...distinct]) });
}

interface Wish extends Claim {
  readonly column: string;
  readonly key: string;
  readonly exact: boolean;
  /** The name has the letter case of the column. */
  readonly plain: boolean;
  readonly free: boolean;
}

function wish(claim: Claim, { naming, keys }: ReservedColumns): Wish {
  const column = columnName(claim.name, naming);
  const key = columnKey(column, naming);
  const free = !keys.has(key) && !key.endsWith(OVERFLOW) && key !== MEMBERS;
  const exact = key === claim.name;
  return { ...claim, column, key, exact, plain: exact || columnKey(claim.name, naming) === claim.name, free };
}

function owners(wishes: readonly Wish[]): ReadonlySet<Wish> {
  const byKey = new Map<string, Wish[]>();
  for (const one of wishes) {
    if (!one.free) continue;
    const rivals = byKey.get(one.key);
    if (rivals === undefined) byKey.set(one.key, [one]);
    else rivals.push(one);
  }
  return new Set([...byKey.values()].flatMap((rivals) => owner(rivals) ?? []));
}

function owner(rivals: readonly Wish[]): Wish | undefined {
  if (rivals.length === 1) return rivals[0];
  const exact = rivals.filter((one) => one.exact);
  const first = exact.length === 0 ? rivals.filter((one) => one.plain) : exact;
  const members = first.filter(({ of }) => of === "member");
  // If two members map to one column, such as a_b + c and a + b_c, neither keeps it.
  return first.find(({ of }) => of === "attribute") ?? (members.length === 1 ? members[0] : undefined);
}

function resolved(wishes: readonly Wish[], { naming, keys }: ReservedColumns): readonly string[] {
  const owning = owners(wishes);
  const taken = new Set(keys);
  const repeats = new Map<string, number>();
  return wishes.map((one) => {
    if (owning.has(one)) return one.column;
    const column = suffixed(one, { taken, repeats }, naming);
    taken.add(columnKey(column, naming));
    return column;
  });
}

interface Suffixes {
  readonly taken: ReadonlySet<string>;
  /** For each origin the next repetition to try: an attribute of NGSI v1 may occur thousands of times. */
  readonly repeats: Map<string, number>;
}

function suffixed({ column, origin }: Wish, { taken, repeats }: Suffixes, naming: ColumnNaming): string {
  const { length, unit } = nameLimits[naming.database];
  const stem = shorten(column, { length: length - HASH_DIGITS - 1, unit });
  for (let repeat = repeats.get(origin) ?? 0; ; repeat++) {
    const hashed = createHash("sha256").update(repeat === 0 ? origin : `${origin}\0${repeat}`);
    const name = `${stem}_${hashed.digest("hex").slice(0, HASH_DIGITS)}`;
    if (taken.has(columnKey(name, naming))) continue;
    repeats.set(origin, repeat + 1);
    return name;
  }
}

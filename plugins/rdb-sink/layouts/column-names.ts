import { createHash } from "node:crypto";
import { columnName, type Entity, shorten } from "deneb/ngsi";

const COLUMN_LIMIT_BYTES = 63;
const HASH_DIGITS = 8;

/**
 * The columns of an entity, no two alike and none of them reserved: for each attribute its own, then those of its
 * members, in the order of the document.
 *
 * Where several names fall into one column, an exact lower-case name keeps it (an attribute before a member). The
 * others get a suffix made from their full name, so that they find the same column again.
 */
export function columnNames(entity: Entity, reserved: ReadonlySet<string>): readonly string[] {
  const claims = entity.attributes.flatMap((attribute) => [
    claim(attribute.name, attribute.name, "attribute"),
    ...attribute.members.map((member) =>
      claim(`${attribute.name}_${member.name}`, `${attribute.name}\0${member.name}`, "member"),
    ),
  ]);
  const columns = claims.map(({ column }) => column);
  const distinct = new Set(columns);
  const clash = distinct.size < columns.length || columns.some((column) => reserved.has(column));
  return clash ? resolved(claims, new Set([...reserved, ...distinct]), owners(claims, reserved)) : columns;
}

/** Something that wants a column: an attribute, or a member of one. */
interface Claim {
  readonly column: string;
  /** Tells every attribute and member apart; names never hold NUL. */
  readonly origin: string;
  readonly of: "attribute" | "member";
  readonly exact: boolean;
}

function claim(name: string, origin: string, of: Claim["of"]): Claim {
  const column = columnName(name);
  return { column, origin, of, exact: column === name };
}

function owners(claims: readonly Claim[], reserved: ReadonlySet<string>): ReadonlySet<Claim> {
  const byColumn = new Map<string, Claim[]>();
  for (const one of claims) {
    if (reserved.has(one.column)) continue;
    byColumn.set(one.column, [...(byColumn.get(one.column) ?? []), one]);
  }
  return new Set([...byColumn.values()].flatMap((rivals) => owner(rivals) ?? []));
}

function owner(rivals: readonly Claim[]): Claim | undefined {
  if (rivals.length === 1) return rivals[0];
  const exact = rivals.filter((one) => one.exact);
  const members = exact.filter(({ of }) => of === "member");
  // Of two members that spell one column, as a_b + c and a + b_c, neither comes first.
  return exact.find(({ of }) => of === "attribute") ?? (members.length === 1 ? members[0] : undefined);
}

function resolved(claims: readonly Claim[], all: ReadonlySet<string>, owning: ReadonlySet<Claim>): readonly string[] {
  const taken = new Set(all);
  return claims.map((one) => {
    if (owning.has(one)) return one.column;
    const column = suffixed(one, taken);
    taken.add(column);
    return column;
  });
}

function suffixed({ column, origin }: Claim, taken: ReadonlySet<string>): string {
  const stem = shorten(column, COLUMN_LIMIT_BYTES - HASH_DIGITS - 1);
  for (let repeat = 0; ; repeat++) {
    const hashed = createHash("sha256").update(repeat === 0 ? origin : `${origin}\0${repeat}`);
    const name = `${stem}_${hashed.digest("hex").slice(0, HASH_DIGITS)}`;
    if (!taken.has(name)) return name;
  }
}

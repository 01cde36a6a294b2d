/** What a user may do on the databases whose names match a pattern. */
interface Grant {
  /** As the server has it, with `%` and `_` for any characters; `*` for all databases. */
  readonly database: string;
  /** Upper case; `ALL PRIVILEGES` stands for all. */
  readonly privileges: ReadonlySet<string>;
}

export interface Grants {
  readonly databases: readonly Grant[];
  /** What MySQL with `partial_revokes` takes of a right to all databases, in those of exactly these names. */
  readonly revoked: readonly Grant[];
  /** Roles that the user has; what they may do can be missing above. */
  readonly roles: readonly string[];
}

// The quotes are those of the sql_mode.
const ON_DATABASE =
  /^(?<verb>GRANT|REVOKE) (?<privileges>.+?) ON (?:(?<quote>[`"])(?<quoted>.*?)\k<quote>|(?<bare>\*))\.\* (?:TO|FROM) /i;
const ROLE = /^GRANT (?<role>[^ ]+(?:, ?[^ ]+)*) TO /i;

/** Reads the lines of SHOW GRANTS. Rights to single tables or columns are of no use for a sink that makes its tables. */
export function readGrants(lines: readonly string[]): Grants {
  const databases: Grant[] = [];
  const revoked: Grant[] = [];
  const roles: string[] = [];
  for (const line of lines) {
    const { verb, privileges, quote = "", quoted = "", bare } = ON_DATABASE.exec(line)?.groups ?? {};
    if (privileges !== undefined) {
      const database = bare ?? quoted.replaceAll(quote + quote, quote);
      const of = { database, privileges: new Set(privileges.split(", ").map((one) => one.trim().toUpperCase())) };
      (verb?.toUpperCase() === "REVOKE" ? revoked : databases).push(of);
    } else if (!/ ON /.test(line)) {
      const { role } = ROLE.exec(line)?.groups ?? {};
      if (role !== undefined) roles.push(role);
    }
  }
  return { databases, revoked, roles };
}

/** Which of the wanted privileges no grant gives for a database of this name; `undefined` is any name. */
export function missingFor(
  name: string | undefined,
  wanted: readonly string[],
  { databases, revoked }: Grants,
): readonly string[] {
  const taken = revoked.filter(({ database }) => database === name);
  const has = (privilege: string) => (grant: Grant) => {
    if (grant.database === "*") return gives(grant, privilege) && !taken.some((one) => gives(one, privilege));
    return matches(grant.database, name) && gives(grant, privilege);
  };
  return wanted.filter((privilege) => !databases.some(has(privilege)));
}

/** Databases of the server itself; no sink stores there. */
const OWN_DATABASES = /^(?:information_schema|mysql|performance_schema|sys)$/i;

/** The databases from which wanted privileges were revoked, each with those that no other grant gives. */
export function revokedFrom(wanted: readonly string[], grants: Grants) {
  return grants.revoked
    .filter(({ database }) => !OWN_DATABASES.test(database))
    .map(({ database }) => ({ database, missing: missingFor(database, wanted, grants) }))
    .filter(({ missing }) => missing.length > 0);
}

function gives({ privileges }: Grant, privilege: string): boolean {
  return privileges.has("ALL PRIVILEGES") || privileges.has("ALL") || privileges.has(privilege);
}

/** A pattern that stands for every name. */
const EVERY_NAME = /^%+$/;

function matches(pattern: string, name: string | undefined): boolean {
  if (name === undefined) return EVERY_NAME.test(pattern);
  return new RegExp(`^${[...parts(pattern)].join("")}$`, "is").test(name);
}

function* parts(pattern: string): Generator<string> {
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? "";
    const next = pattern[at + 1];
    if (character === "\\" && next !== undefined) {
      yield literal(next);
      at += 1;
    } else if (character === "%") yield ".*";
    else yield character === "_" ? "." : literal(character);
  }
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

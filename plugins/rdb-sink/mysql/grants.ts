/** What a user may do on the databases whose names match a pattern. */
interface Grant {
  /** As the server has it, with `%` and `_` for any characters; `*` for all databases. */
  readonly database: string;
  /** Upper case; `ALL PRIVILEGES` stands for all. */
  readonly privileges: ReadonlySet<string>;
}

export interface Grants {
  readonly databases: readonly Grant[];
  /** Roles that the user has; what they may do can be missing above. */
  readonly roles: readonly string[];
}

// The quotes are those of the sql_mode.
const ON_DATABASE = /^GRANT (?<privileges>.+?) ON (?:(?<quote>[`"])(?<quoted>.*?)\k<quote>|(?<bare>\*))\.\* TO /i;
const ROLE = /^GRANT (?<role>[^ ]+(?:, ?[^ ]+)*) TO /i;

/** Reads the lines of SHOW GRANTS. Rights to single tables or columns are of no use for a sink that makes its tables. */
export function readGrants(lines: readonly string[]): Grants {
  const databases: Grant[] = [];
  const roles: string[] = [];
  for (const line of lines) {
    const { privileges, quote = "", quoted = "", bare } = ON_DATABASE.exec(line)?.groups ?? {};
    if (privileges !== undefined) {
      const database = bare ?? quoted.replaceAll(quote + quote, quote);
      databases.push({ database, privileges: new Set(privileges.split(", ").map((one) => one.trim().toUpperCase())) });
    } else if (!/ ON /.test(line)) {
      const { role } = ROLE.exec(line)?.groups ?? {};
      if (role !== undefined) roles.push(role);
    }
  }
  return { databases, roles };
}

/** Which of the wanted privileges no grant gives for a database of this name; `undefined` is any name. */
export function missingFor(
  name: string | undefined,
  wanted: readonly string[],
  { databases }: Grants,
): readonly string[] {
  const fitting = databases.filter(({ database }) => database === "*" || matches(database, name));
  const has = (privilege: string) =>
    fitting.some(
      ({ privileges }) => privileges.has("ALL PRIVILEGES") || privileges.has("ALL") || privileges.has(privilege),
    );
  return wanted.filter((privilege) => !has(privilege));
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

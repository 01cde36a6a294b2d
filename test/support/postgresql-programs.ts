import { access, constants, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The programs that make and run a PostgreSQL. */
export interface PostgresqlPrograms {
  readonly initdb: string;
  readonly pgCtl: string;
}

// Debian keeps the server programs off PATH, Homebrew does so for all but the newest version.
const HOMES = [
  { parent: "/usr/lib/postgresql", inside: "bin" },
  { parent: "/opt/homebrew/opt", inside: "bin" },
  { parent: "/usr/local/opt", inside: "bin" },
  { parent: "/Applications/Postgres.app/Contents/Versions", inside: "bin" },
] as const;

/** Where initdb and pg_ctl are installed: on PATH, else in the places of Debian and macOS, the newest version first. */
export async function postgresqlPrograms(): Promise<PostgresqlPrograms | undefined> {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of [...onPath, ...(await homeFolders())]) {
    const programs = { initdb: join(folder, "initdb"), pgCtl: join(folder, "pg_ctl") };
    if ((await runs(programs.initdb)) && (await runs(programs.pgCtl))) return programs;
  }
  return undefined;
}

async function homeFolders(): Promise<readonly string[]> {
  const lists = await Promise.all(HOMES.map(({ parent, inside }) => versions(parent, inside)));
  return lists.flat();
}

async function versions(parent: string, inside: string): Promise<readonly string[]> {
  const names = await readdir(parent).catch(() => []);
  return names
    .filter((name) => /^(postgresql(@\d+)?|libpq|\d+|latest)$/.test(name))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((name) => join(parent, name, inside));
}

async function runs(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

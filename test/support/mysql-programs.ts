import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The programs that make and run a MariaDB. */
export interface MysqlPrograms {
  readonly install: string;
  readonly server: string;
}

// Debian keeps the server off the PATH of users, Homebrew off PATH for all but the linked version.
const HOMES = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/homebrew/opt/mariadb/bin"];

/** Where mariadb-install-db and mariadbd are installed: on PATH, else in the usual places. */
export async function mysqlPrograms(): Promise<MysqlPrograms | undefined> {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, ...HOMES];
  const install = await firstIn(folders, "mariadb-install-db");
  const server = await firstIn(folders, "mariadbd");
  return install === undefined || server === undefined ? undefined : { install, server };
}

async function firstIn(folders: readonly string[], program: string): Promise<string | undefined> {
  for (const folder of folders) if (await runs(join(folder, program))) return join(folder, program);
  return undefined;
}

async function runs(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

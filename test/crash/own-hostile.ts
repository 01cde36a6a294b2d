import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { postgresqlPrograms } from "../support/postgresql-programs.js";
import { HostilePostgresql } from "./hostile-postgresql.js";
import { type SmallDisk, smallDisk } from "./small-disk.js";

/** A PostgreSQL for this test alone; undefined, and the test skipped, where none is installed. */
export async function hostilePostgresql(context: TestContext): Promise<HostilePostgresql | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-hostile-"));
  return await startedIn(context, folder, () => rm(folder, { recursive: true, force: true }));
}

/** The same on a disk that can be filled; undefined, and the test skipped, where there is no way to have one. */
export async function hostilePostgresqlOnSmallDisk(
  context: TestContext,
): Promise<{ readonly server: HostilePostgresql; readonly disk: SmallDisk } | undefined> {
  const disk = await smallDisk();
  if (disk === undefined) {
    context.skip("a small disk to fill takes the right to mount one, which root has on Linux");
    return undefined;
  }
  const server = await startedIn(context, disk.folder, disk.remove);
  return server === undefined ? undefined : { server, disk };
}

async function startedIn(
  context: TestContext,
  folder: string,
  remove: () => Promise<void>,
): Promise<HostilePostgresql | undefined> {
  const programs = await postgresqlPrograms();
  if (programs === undefined) {
    await remove();
    context.skip("a PostgreSQL of its own takes initdb and pg_ctl, which are not installed");
    return undefined;
  }
  const server = new HostilePostgresql(programs, folder);
  context.after(async () => {
    await server.kill();
    await remove();
  });
  await server.make();
  return server;
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, type TestContext } from "node:test";
import { postgresqlPrograms } from "../support/postgresql-programs.js";
import { HostilePostgresql } from "./hostile-postgresql.js";
import { type SmallDisk, smallDisk } from "./small-disk.js";

/** That of the tests of one file, once one of them wanted it. */
let ofFile: { readonly server: HostilePostgresql; readonly folder: string } | undefined;

after(async () => {
  await ofFile?.server.kill();
  if (ofFile !== undefined) await rm(ofFile.folder, { recursive: true, force: true });
});

/** A PostgreSQL for this test alone as long as it runs, without anything of others; undefined, and the test skipped, where none is installed. */
export async function hostilePostgresql(context: TestContext): Promise<HostilePostgresql | undefined> {
  if (ofFile !== undefined) {
    const { server } = ofFile;
    await server.start();
    await server.query("drop schema if exists crash cascade; drop schema if exists deneb cascade");
    return server;
  }
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-hostile-"));
  const server = await madeIn(context, folder);
  if (server === undefined) await rm(folder, { recursive: true, force: true });
  else ofFile = { server, folder };
  return server;
}

/** One of its own on a disk that can be filled; undefined, and the test skipped, where there is no way to have one. */
export async function hostilePostgresqlOnSmallDisk(
  context: TestContext,
): Promise<{ readonly server: HostilePostgresql; readonly disk: SmallDisk } | undefined> {
  const disk = await smallDisk();
  if (disk === undefined) {
    context.skip("a small disk to fill takes the right to mount one, which root has on Linux");
    return undefined;
  }
  let server: HostilePostgresql | undefined;
  context.after(async () => {
    await server?.kill();
    await disk.remove();
  });
  server = await madeIn(context, disk.folder);
  return server === undefined ? undefined : { server, disk };
}

/** It runs when it is returned. */
async function madeIn(context: TestContext, folder: string): Promise<HostilePostgresql | undefined> {
  const programs = await postgresqlPrograms();
  if (programs === undefined) {
    context.skip("a PostgreSQL of its own takes initdb and pg_ctl, which are not installed");
    return undefined;
  }
  const server = new HostilePostgresql(programs, folder);
  await server.make();
  return server;
}

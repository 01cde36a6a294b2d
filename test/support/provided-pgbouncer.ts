import { installedProgram } from "./installed-program.js";
import { startOwnPgbouncer } from "./own-pgbouncer.js";
import { answersPostgresql, serverOfTests } from "./postgresql.js";
import { type ProvidedServer, where } from "./provided-server.js";

/** The PgBouncer of the tests, in front of the PostgreSQL of the tests. */
export function pgbouncerOfTests(): { readonly host: string; readonly port: number } {
  const { DENEB_TEST_PGBOUNCERHOST, DENEB_TEST_PGBOUNCERPORT } = process.env;
  return { host: DENEB_TEST_PGBOUNCERHOST ?? "127.0.0.1", port: Number(DENEB_TEST_PGBOUNCERPORT ?? 6432) };
}

/**
 * The PgBouncer that DENEB_TEST_PGBOUNCERHOST and _PGBOUNCERPORT point to when it answers, else one of our own from the
 * program installed here. It needs the PostgreSQL of the tests, so that is provided first.
 */
export function providedPgbouncer(): ProvidedServer {
  const upstream = serverOfTests();
  const given = { ...upstream, ...pgbouncerOfTests() };
  return {
    name: "PgBouncer",
    where: where(given),
    answers: () => answersPostgresql(given),
    missingPrograms: "pgbouncer",
    start: async () => {
      const program = await installedProgram("pgbouncer");
      if (program === undefined) return undefined;
      if (!(await answersPostgresql(upstream))) throw new Error("there is no PostgreSQL for it");
      return await startOwnPgbouncer(program, upstream);
    },
    announce: ({ host, port }) => {
      process.env["DENEB_TEST_PGBOUNCERHOST"] = host;
      process.env["DENEB_TEST_PGBOUNCERPORT"] = String(port);
    },
  };
}

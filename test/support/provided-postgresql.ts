import { startOwnPostgresql } from "./own-postgresql.js";
import { answersPostgresql, serverOfTests } from "./postgresql.js";
import { postgresqlPrograms } from "./postgresql-programs.js";
import { type ProvidedServer, where } from "./provided-server.js";

/**
 * The PostgreSQL that DENEB_TEST_PGHOST, _PGPORT, _PGUSER and _PGPASSWORD point to when it answers, else one of our own
 * from the programs installed here. The variables are set in `process.env`, which the test processes inherit.
 */
export function providedPostgresql(): ProvidedServer {
  const given = serverOfTests();
  return {
    name: "PostgreSQL",
    where: where(given),
    answers: () => answersPostgresql(given),
    missingPrograms: "initdb and pg_ctl",
    start: async () => {
      const programs = await postgresqlPrograms();
      return programs === undefined ? undefined : await startOwnPostgresql(programs);
    },
    announce: ({ host, port, user }) => {
      process.env["DENEB_TEST_PGHOST"] = host;
      process.env["DENEB_TEST_PGPORT"] = String(port);
      process.env["DENEB_TEST_PGUSER"] = user;
      process.env["DENEB_TEST_PGPASSWORD"] = "";
    },
  };
}

import { mysqlOfTests, reachedMysql } from "./mysql.js";
import { mysqlPrograms } from "./mysql-programs.js";
import { startOwnMysql } from "./own-mysql.js";
import { type ProvidedServer, where } from "./provided-server.js";

/**
 * The MySQL or MariaDB that DENEB_TEST_MYSQLHOST, _MYSQLPORT, _MYSQLUSER and _MYSQLPASSWORD point to when it answers,
 * else a MariaDB of our own from the programs installed here. The variables are set in `process.env`.
 */
export function providedMysql(): ProvidedServer {
  const given = mysqlOfTests();
  return {
    name: "MySQL",
    where: where(given),
    answers: async () => {
      const connection = await reachedMysql(given);
      await connection?.end();
      return connection !== undefined;
    },
    missingPrograms: "mariadbd and mariadb-install-db",
    start: async () => {
      const programs = await mysqlPrograms();
      return programs === undefined ? undefined : await startOwnMysql(programs);
    },
    announce: ({ host, port, user }) => {
      process.env["DENEB_TEST_MYSQLHOST"] = host;
      process.env["DENEB_TEST_MYSQLPORT"] = String(port);
      process.env["DENEB_TEST_MYSQLUSER"] = user;
      process.env["DENEB_TEST_MYSQLPASSWORD"] = "";
    },
  };
}

import type { TestContext } from "node:test";
import { mysqlRows, reachedMysql } from "../support/mysql.js";
import { mysqlPrograms } from "../support/mysql-programs.js";
import { OwnMysql } from "../support/own-mysql.js";
import { hostilePostgresql } from "./own-hostile.js";
import type { CountedRow } from "./shared-verdict.js";
import { connectionsEnded, type Mishap, serverKilled } from "./troubles.js";

const HOST = "127.0.0.1";
/** Entities whose row of last data is not the newest of their rows. */
const OLD_LAST_DATA = `
  select e.entityid, l.recvtime, r.newest
  from (select entityid from crash.room union select entityid from crash.room_last_data) e
  left join crash.room_last_data l on l.entityid = e.entityid
  left join (select entityid, max(recvtime) as newest from crash.room group by entityid) r on r.entityid = e.entityid
  where l.recvtime is null or r.newest is null or l.recvtime <> r.newest`;

type Rows = readonly Readonly<Record<string, string | null>>[];

/** The database of agents that share a log, and what befalls it: rows of type Room of the service crash. */
export interface SharedStore {
  readonly port: number;
  /** Of the sink, but for its host and port. */
  readonly properties: Readonly<Record<string, string>>;
  readonly mishaps: readonly Mishap[];
  /** Whether a row was stored; false where there is no table yet. */
  hasRows(): Promise<boolean>;
  /** Has the database count the rows in the order in which they are stored from now on, and forget those before. */
  countRows(): Promise<void>;
  /** In the order in which they were stored. */
  rows(): Promise<readonly CountedRow[]>;
  /** Entities whose row of last data is not the newest of their rows. */
  oldLastData(): Promise<readonly unknown[]>;
}

/** Undefined, and the test skipped, where none is installed. */
export async function postgresqlStore(context: TestContext): Promise<SharedStore | undefined> {
  const server = await hostilePostgresql(context);
  if (server === undefined) return undefined;
  const login = {
    rdb_username: "postgres",
    rdb_password: "",
    rdb_database: "postgres",
    rdb_options: "sslmode=disable",
  };
  return {
    ...storeOf((text) => server.query(text), "bigserial"),
    port: Number(server.sink["rdb_port"]),
    properties: login,
    mishaps: [connectionsEnded(server), connectionsEnded(server), serverKilled(server)],
  };
}

/** Undefined, and the test skipped, where none is installed. */
export async function mariadbStore(context: TestContext): Promise<SharedStore | undefined> {
  const programs = await mysqlPrograms();
  if (programs === undefined) {
    context.skip("a MySQL of its own takes mariadb-install-db and mariadbd, which are not installed");
    return undefined;
  }
  // What is committed is with the system, which goes on when the server is killed.
  const server = await OwnMysql.make(programs, ["--innodb-flush-log-at-trx-commit=2"]);
  context.after(() => server.remove());
  const query = (text: string) => queried(server, text);
  const killed = async () => {
    await server.kill();
    await server.start();
  };
  const ended = async () => {
    for (const { id } of await query(
      "select id from information_schema.processlist where user = 'root' and id <> connection_id()",
    ))
      await query(`kill ${id}`).catch(() => {});
  };
  return {
    ...storeOf(query, "bigint auto_increment unique"),
    port: server.port,
    properties: {
      rdb_dialect: "mysql",
      rdb_username: "root",
      rdb_password: "",
      rdb_options: "sslMode=DISABLED",
      enable_lowercase: "true",
    },
    mishaps: [ended, ended, killed],
  };
}

async function queried(server: OwnMysql, text: string): Promise<Rows> {
  const connection = await reachedMysql({ host: HOST, port: server.port, user: "root" });
  if (connection === undefined) throw new Error("MariaDB does not answer");
  try {
    return await mysqlRows(connection, text);
  } finally {
    connection.destroy();
  }
}

function storeOf(query: (text: string) => Promise<Rows>, counter: string) {
  return {
    hasRows: async () => {
      const rows = await query("select 1 from crash.room").catch(() => []);
      return rows.length > 0;
    },
    countRows: async () => {
      await query(`alter table crash.room add column seq ${counter}`);
      for (const table of ["room", "room_last_data"]) await query(`delete from crash.${table}`);
    },
    rows: async () => {
      const rows = await query("select entityid, number from crash.room order by seq");
      return rows.map(({ entityid, number }) => ({ entity: entityid ?? "", number: Number(number) }));
    },
    oldLastData: () => query(OLD_LAST_DATA),
  };
}

import pg from "pg";
import { provideMosquitto } from "./mosquitto-server.js";
import { type OwnPostgresql, startOwnPostgresql } from "./own-postgresql.js";
import { postgresqlPrograms } from "./postgresql-programs.js";

/** The servers the tests may use. */
export interface Servers {
  /** One line for people on each server: where it is, or why it is not there. */
  readonly remarks: readonly string[];
  /** Names of the servers that could not be had; tests that need them are skipped. */
  readonly absent: readonly string[];
  /** Ends the servers that were started here. Safe to call twice. */
  stop(): Promise<void>;
}

const REACH_TIMEOUT_MILLIS = 2000;

/** Makes PostgreSQL and an MQTT broker available to the test processes. */
export async function provideServers(): Promise<Servers> {
  const all = await Promise.all([providePostgresql(), provideMosquitto()]);
  return {
    remarks: all.flatMap(({ remarks }) => remarks),
    absent: all.flatMap(({ absent }) => absent),
    stop: async () => {
      await Promise.all(all.map((server) => server.stop()));
    },
  };
}

/**
 * Makes PostgreSQL available to the test processes: the one that DENEB_TEST_PGHOST, _PGPORT, _PGUSER and _PGPASSWORD
 * point to when it answers, else one of our own from the programs installed here. The variables are set in
 * `process.env`, which the test processes inherit.
 */
async function providePostgresql(): Promise<Servers> {
  const given = givenPostgresql();
  if (await answers(given)) return { remarks: [`PostgreSQL: ${where(given)}`], absent: [], stop: async () => {} };
  const programs = await postgresqlPrograms();
  if (programs === undefined) return without(`none at ${where(given)}, no initdb and pg_ctl installed here`);
  try {
    const own = await startOwnPostgresql(programs);
    announce(own);
    return { remarks: [`PostgreSQL: our own, ${where(own)}`], absent: [], stop: own.stop };
  } catch (error) {
    return without(`none at ${where(given)}, and ${error instanceof Error ? error.message : String(error)}`);
  }
}

function without(reason: string): Servers {
  return { remarks: [`PostgreSQL: ${reason}`], absent: ["postgresql"], stop: async () => {} };
}

function announce({ host, port, user }: OwnPostgresql): void {
  process.env["DENEB_TEST_PGHOST"] = host;
  process.env["DENEB_TEST_PGPORT"] = String(port);
  process.env["DENEB_TEST_PGUSER"] = user;
  process.env["DENEB_TEST_PGPASSWORD"] = "";
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

function givenPostgresql(): Address {
  const { DENEB_TEST_PGHOST, DENEB_TEST_PGPORT, DENEB_TEST_PGUSER, DENEB_TEST_PGPASSWORD } = process.env;
  return {
    host: DENEB_TEST_PGHOST ?? "127.0.0.1",
    port: Number(DENEB_TEST_PGPORT ?? 5432),
    user: DENEB_TEST_PGUSER ?? "postgres",
    password: DENEB_TEST_PGPASSWORD ?? "",
  };
}

async function answers(address: Address): Promise<boolean> {
  const client = new pg.Client({ ...address, database: "postgres", connectionTimeoutMillis: REACH_TIMEOUT_MILLIS });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function where({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host}:${port}`;
}

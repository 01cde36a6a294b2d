import { TLSSocket } from "node:tls";
import type { Probe, ProbeResult } from "deneb/sdk";
import { storeError } from "deneb/sql";
import { hasGeometries } from "../config.js";
import { tlsResult } from "../tls-result.js";
import type { Ask, ProbeParts } from "./ask.js";
import { withClient } from "./client.js";
import { postgresqlErrors } from "./errors.js";
import { databaseRight, extensionProbe, hasOwnDatabases, listedTables, schemaRights } from "./rights.js";

/** Whether the database can be reached by this user, is encrypted as asked, and lets the user do what the sink does. */
export function postgresqlProbes(parts: ProbeParts): readonly Probe[] {
  const { config, server, next } = parts;
  const { address, database, username } = server;
  const probe = (tries: string, ask: Ask): Probe => ({ tries, run: (signal) => asked(ask, parts, signal) });
  const ownDatabases = hasOwnDatabases(config);
  const login = probe(`log in to database "${database}" at ${address} as "${username}"`, loggedIn);
  return [
    {
      ...login,
      next: [
        probe("encrypt the connection", encryption),
        probe("see that rows are on disk when they are confirmed", onDisk),
        probe(
          "create a schema and a table, and write, change and delete rows in it, in a transaction that is rolled back",
          schemaRights,
        ),
        ...(ownDatabases ? [probe("create databases for services", databaseRight)] : []),
        ...(hasGeometries(config) ? [probe("use the extension PostGIS", extensionProbe("postgis"))] : []),
        ...(config.timescaledb ? [probe("use the extension TimescaleDB", extensionProbe("timescaledb"))] : []),
        probe("write to the tables of earlier runs", listedTables),
        ...next,
      ],
    },
  ];
}

async function asked(ask: Ask, parts: ProbeParts, signal: AbortSignal): Promise<ProbeResult> {
  try {
    return await withClient(parts.settings, (client) => ask(client, parts), signal);
  } catch (error) {
    throw storeError(error, postgresqlErrors, parts.server);
  }
}

const loggedIn: Ask = async (client, { config }) => {
  const { rows } = await client.query(`
    SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS standby,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS free`);
  const [{ version, standby, free } = {}] = rows;
  const reason = `PostgreSQL ${String(version)}`;
  if (standby === true)
    return {
      outcome: "failed",
      reason: `${reason}, a standby that takes no writes`,
      remedy: "point rdb_host to the primary",
    };
  const wanted = config.rdb_maxPoolSize;
  if (typeof free !== "number" || free >= wanted) return { outcome: "ok", reason };
  const found = `${reason}, ${Math.max(0, free)} connections are free and the sink uses up to ${wanted}`;
  return { outcome: "warning", reason: found, remedy: "raise max_connections or lower rdb_maxPoolSize" };
};

const onDisk: Ask = async (client, { server }) => {
  const { rows } = await client.query(`
    SELECT current_setting('synchronous_commit') AS waits, current_setting('synchronous_standby_names') AS standbys`);
  const [{ waits, standbys } = {}] = rows;
  const remedy = `run ALTER ROLE "${server.username.replaceAll('"', '""')}" SET synchronous_commit = on`;
  if (waits === "off") return { outcome: "warning", reason: NOT_ON_DISK, remedy };
  return waits === "local" && standbys !== ""
    ? { outcome: "warning", reason: NOT_ON_STANDBY, remedy }
    : { outcome: "ok" };
};

const NOT_ON_DISK =
  "synchronous_commit is off: when the server crashes, it loses rows that the agent has stored and no longer keeps";

const NOT_ON_STANDBY =
  "synchronous_commit is local: commits do not wait for the synchronous standby that the server has, which after a failover lacks rows " +
  "that the agent has stored and no longer keeps";

const encryption: Ask = async (client, { settings, examiner }) => {
  const { stream } = client.connection;
  const isTls = stream instanceof TLSSocket;
  return tlsResult({
    mode: settings.options.sslMode,
    host: settings.host,
    protocol: isTls ? (stream.getProtocol() ?? "TLS") : undefined,
    certificate: isTls ? stream.getPeerX509Certificate() : undefined,
    examiner,
  });
};

import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { NO_POSTGIS, postgisDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

/** As for the PostGIS sink of the original, whose image gives the address in variables. */
const properties = `
cygnus-ngsi.sources = http-source
cygnus-ngsi.sinks = postgis-sink
cygnus-ngsi.channels = postgis-channel
cygnus-ngsi.sources.http-source.channels = postgis-channel
cygnus-ngsi.sources.http-source.type = org.apache.flume.source.http.HTTPSource
cygnus-ngsi.sources.http-source.port = 0
cygnus-ngsi.sources.http-source.handler = com.telefonica.iot.cygnus.handlers.NGSIRestHandler
cygnus-ngsi.channels.postgis-channel.type = file
cygnus-ngsi.sinks.postgis-sink.type = com.telefonica.iot.cygnus.sinks.NGSIPostgisSink
cygnus-ngsi.sinks.postgis-sink.channel = postgis-channel
cygnus-ngsi.sinks.postgis-sink.postgis_host = host.of.the.image.example
cygnus-ngsi.sinks.postgis-sink.postgis_maxPoolSize = 2
cygnus-ngsi.sinks.postgis-sink.attr_persistence = column
cygnus-ngsi.sinks.postgis-sink.data_model = dm-by-entity-type
cygnus-ngsi.sinks.postgis-sink.batch_size = 10
cygnus-ngsi.sinks.postgis-sink.batch_ttl = -1
cygnus-ngsi.sinks.postgis-sink.batch_retry_intervals = 100
`;

const positions = ["1, 2", "nowhere", "3, 4", "5", "6, 7"];

test("a file of the original's PostGIS sink waits for the extension, over a kill, and loses only what is no geometry", async (context) => {
  const database = await postgisDatabase();
  if (database === undefined) return context.skip(NO_POSTGIS);
  context.after(() => database.drop());
  await database.query("DROP EXTENSION postgis");
  const setup = {
    properties,
    folder: await tempFolder(context),
    env: {
      CYGNUS_POSTGIS_HOST: database.host,
      CYGNUS_POSTGIS_PORT: String(database.port),
      CYGNUS_POSTGIS_DATABASE: database.database,
      CYGNUS_POSTGIS_USER: database.user,
      CYGNUS_POSTGIS_PASS: database.password,
    },
  };
  const killed = await startAgent(context, setup);
  for (const [index, position] of positions.entries()) await post(killed.notifyUrl, index, position);
  const sentence = await until(
    async () => killed.lines.find(({ reason }) => /CREATE EXTENSION postgis/.test(String(reason))),
    (line) => line !== undefined,
  );
  await killed.end("SIGKILL");

  const agent = await startAgent(context, setup);
  await database.query("CREATE EXTENSION postgis");
  const { stored, dead_lettered } = await settledBooks(agent);

  assert.match(
    String(sentence?.["reason"]),
    /^PostGIS is missing in database .* a superuser .* must run CREATE EXTENSION/,
  );
  const rows = await database.query("SELECT entityid, ST_AsEWKT(loc) AS loc FROM svc.geo ORDER BY entityid");
  assert.deepEqual(rows, [
    { entityid: "e0", loc: "SRID=4326;POINT(1 2)" },
    { entityid: "e2", loc: "SRID=4326;POINT(3 4)" },
    { entityid: "e4", loc: "SRID=4326;POINT(6 7)" },
  ]);
  assert.deepEqual({ stored, dead_lettered }, { stored: 3, dead_lettered: 2 });
  const warned = agent.lines.filter(({ level, key }) => level === "warn" && /attr_geometry_x$/.test(String(key)));
  assert.match(warned.map(({ reason }) => reason).join("\n"), /^[^\n]*x = latitude[^\n]*$/);
});

async function post(url: string, index: number, position: string): Promise<void> {
  const loc = { type: "geo:point", value: position, metadata: {} };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", "fiware-service": "svc", "fiware-servicepath": "/" },
    body: JSON.stringify({ subscriptionId: "51c0ac9ed714fb3b37d7d5a8", data: [{ id: `e${index}`, type: "Geo", loc }] }),
  });
  await response.arrayBuffer();
  assert.equal(response.status, 200);
}

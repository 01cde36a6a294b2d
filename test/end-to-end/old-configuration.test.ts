import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";

/**
 * As the original's documentation shows it, with the lists that its container writes; the password and the host come from
 * the variables of its image.
 */
const properties = `
cygnus-ngsi.sources = http-source
cygnus-ngsi.sinks = mongo-sink postgresql-sink  postgresql-sink
cygnus-ngsi.channels = mongo-channel postgresql-channel

cygnus-ngsi.sources.http-source.channels = mongo-channel postgresql-channel
cygnus-ngsi.sources.http-source.type = org.apache.flume.source.http.HTTPSource
cygnus-ngsi.sources.http-source.port = 0
cygnus-ngsi.sources.http-source.handler = com.telefonica.iot.cygnus.handlers.NGSIRestHandler
cygnus-ngsi.sources.http-source.handler.notification_target = /notify
cygnus-ngsi.sources.http-source.handler.default_service = default
cygnus-ngsi.sources.http-source.handler.default_service_path = /
cygnus-ngsi.sources.http-source.interceptors = ts
cygnus-ngsi.sources.http-source.interceptors.ts.type = timestamp

cygnus-ngsi.channels.postgresql-channel.type = com.telefonica.iot.cygnus.channels.CygnusMemoryChannel
cygnus-ngsi.channels.postgresql-channel.capacity = 1000
cygnus-ngsi.channels.postgresql-channel.transactionCapacity = 100

cygnus-ngsi.sinks.postgresql-sink.type = com.telefonica.iot.cygnus.sinks.NGSIPostgreSQLSink
cygnus-ngsi.sinks.postgresql-sink.channel = postgresql-channel
cygnus-ngsi.sinks.postgresql-sink.enable_encoding = false
cygnus-ngsi.sinks.postgresql-sink.enable_lowercase = false
cygnus-ngsi.sinks.postgresql-sink.enable_name_mappings = false
cygnus-ngsi.sinks.postgresql-sink.data_model = dm-by-entity
cygnus-ngsi.sinks.postgresql-sink.postgresql_host = host.of.the.image.example
cygnus-ngsi.sinks.postgresql-sink.attr_persistence = column
cygnus-ngsi.sinks.postgresql-sink.batch_size = 1
cygnus-ngsi.sinks.postgresql-sink.batch_timeout = 10
cygnus-ngsi.sinks.postgresql-sink.batch_ttl = 10
`;

const v2 = {
  subscriptionId: "51c0ac9ed714fb3b37d7d5a8",
  data: [{ id: "car1", type: "car", speed: { type: "float", value: 112.9, metadata: {} } }],
};
const ld = {
  id: "urn:ngsi-ld:Notification:1",
  type: "Notification",
  subscriptionId: "urn:ngsi-ld:Subscription:1",
  data: [{ id: "urn:ngsi-ld:Car:1", type: "Car", speed: { type: "Property", value: 50 } }],
};

test("a configuration file of the original starts and stores NGSI v2 and NGSI-LD where its tables were", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("needs PostgreSQL");
  context.after(() => database.drop());
  const agent = await startAgent(context, {
    properties,
    folder: await tempFolder(context),
    env: {
      CYGNUS_POSTGRESQL_HOST: database.host,
      CYGNUS_POSTGRESQL_PORT: String(database.port),
      CYGNUS_POSTGRESQL_DATABASE: database.database.toUpperCase(),
      CYGNUS_POSTGRESQL_USER: database.user,
      CYGNUS_POSTGRESQL_PASS: database.password,
    },
  });

  const statuses = [
    await post(agent.notifyUrl, v2, { "fiware-service": "vehicles", "fiware-servicepath": "/wheels" }),
    await post(agent.notifyUrl, v2, {}),
    await post(agent.notifyUrl, ld, { "fiware-service": "vehicles" }),
  ];
  await agent.end("SIGTERM");

  assert.deepEqual(statuses, [200, 200, 200]);
  const speeds = [
    await database.query("select entityid, speed from vehicles.wheels_car1_car"),
    await database.query("select entityid, speed from default_service.car1_car"),
    await database.query("select entityid, speed from vehicles.urn_ngsi_ld_car_1"),
  ];
  assert.deepEqual(speeds, [
    [{ entityid: "car1", speed: "112.9" }],
    [{ entityid: "car1", speed: "112.9" }],
    [{ entityid: "urn:ngsi-ld:Car:1", speed: "50" }],
  ]);
});

async function post(url: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { check } from "../../core/cli/check.js";
import { exitCodes } from "../../core/cli/command.js";
import { migrate } from "../../core/cli/migrate.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { tempFolder } from "../support/temp-folder.js";

const cygnus = "com.telefonica.iot.cygnus.sinks";
const file = (type: string) => `
a.sources = s
a.channels = c
a.sinks = other pg
a.sources.s.type = http
a.sources.s.port = 5050
a.sources.s.channels = c
a.sources.s.handler = com.telefonica.iot.cygnus.handlers.NGSIRestHandler
a.channels.c.type = memory
a.sinks.other.type = ${type}
a.sinks.other.channel = c
a.sinks.pg.type = ${cygnus}.NGSIPostgreSQLSink
a.sinks.pg.channel = c
`;

const stores = [
  ...["mongo", "mongodb", "sth", "hdfs", "ckan", "carto", "cartodb", "dynamo", "dynamodb", "elasticsearch"],
  ...[
    "arcgis",
    "orion",
    "hbase",
    "hbase2",
    "hive",
    "avro",
    "redis",
    "cassandra",
    "influxdb",
    "couchdb",
    "solr",
    "druid",
  ],
  ...["tsdb", "opentsdb", "mdb", "gdb", "ldb", "tdb", "kdb", "db2", "oracle"],
];
const classes = ["Mongo", "STH", "HDFS", "CKAN", "CartoDB", "DynamoDB", "Kafka", "Elasticsearch", "ArcgisFeatureTable"];
const types = [
  ...stores,
  ...classes.flatMap((name) => [`NGSI${name}Sink`, `${cygnus}.NGSI${name}Sink`, `${cygnus}.NGSILD${name}Sink`]),
  ...["org.apache.flume.sink.kafka.KafkaSink", "org.apache.flume.sink.hdfs.HDFSEventSink", "org.example.MongoSink"],
];

for (const type of types)
  test(`neither migrate nor check propose rdb for the store ${type}`, async (context) => {
    const config = path.join(await tempFolder(context), "old.properties");
    await writeFile(config, file(type));
    const [migrated, checked] = [recordingTerminal(), recordingTerminal()];

    const code = await migrate({ config }, migrated.terminal);
    await check({ config }, checked.terminal);

    const active = migrated.out.join("\n").match(/^a\.sinks\.other\.type = (.*)$/m)?.[1] ?? type;
    assert.equal(code, exitCodes.leftOut);
    assert.equal(active, type);
    for (const text of [migrated.err, checked.err].map((lines) => lines.join("\n"))) {
      assert.ok(text.includes(`a.sinks.other.type = "${type}": `), text);
      assert.ok(!text.includes("did you mean"), text);
    }
  });

for (const type of ["rd", "rdbb", "Rdbb", "rdbs"])
  test(`rdb is still proposed for ${type}`, async (context) => {
    const config = path.join(await tempFolder(context), "old.properties");
    await writeFile(config, file(type));
    const { terminal, err } = recordingTerminal();

    await check({ config }, terminal);

    assert.match(err.join("\n"), /did you mean "rdb"\?/);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { faultText } from "../../../core/configuration/configuration-fault.js";
import { changed, faultTexts, read } from "../../support/configuration.js";
import { speltCatalogue as catalogue } from "../../support/spelt-plugin.js";

const packages = ["com.telefonica.iot.cygnus.sinks.", "com.telefonica.iot.cygnus.sinks.ngsild.", ""];
const stores = [
  ["HDFS", "HDFS"],
  ["Mongo", "MongoDB"],
  ["STH", "the short-term history (STH) in MongoDB"],
  ["CKAN", "CKAN"],
  ["CartoDB", "Carto"],
  ["DynamoDB", "DynamoDB"],
  ["Elasticsearch", "Elasticsearch"],
  ["ArcgisFeatureTable", "ArcGIS"],
  ["Orion", "a second broker"],
] as const;

for (const [name, store] of stores)
  test(`a sink of the original for ${store} is named as one that is not here, in NGSI and NGSI-LD`, () => {
    for (const className of [`NGSI${name}Sink`, `NGSILD${name}Sink`]) {
      for (const written of packages.map((start) => `${start}${className}`)) {
        const { faults } = read(changed("type = rdb", `type = ${written}`), { catalogue });

        const [fault] = faults.filter(({ severity }) => severity === "error");
        assert.ok(fault);
        assert.equal(fault.nearest, undefined);
        const start = `line 8: a1.sinks.s.type = "${written}": ${className} of the original is not part of Deneb`;
        assert.ok(
          faultText(fault).startsWith(`${start}; there is no sink for ${store}; remove the sink`),
          faultText(fault),
        );
      }
    }
  });

test("for the sink of the original for Kafka the sink kafka is named, which writes other records", () => {
  const types = [
    "com.telefonica.iot.cygnus.sinks.NGSIKafkaSink",
    "NGSILDKafkaSink",
    "org.apache.flume.sink.kafka.KafkaSink",
  ];
  for (const type of types) {
    const faults = faultTexts(read(changed("type = rdb", `type = ${type}`), { catalogue }));

    assert.match(
      faults.join(),
      /KafkaSink of \S+(?: \S+)? is not part of Deneb; its place can take the sink kafka, .*own/,
    );
    assert.doesNotMatch(faults.join(), /there is no sink/);
  }
});

test("other classes of the original and of Flume are named too", () => {
  const faults = ["com.telefonica.iot.cygnus.sinks.NGSITestSink", "org.apache.flume.sink.hdfs.HDFSEventSink"].map(
    (type) => faultTexts(read(changed("type = rdb", `type = ${type}`), { catalogue })).join(),
  );

  assert.match(faults[0] ?? "", /NGSITestSink of the original is not part of Deneb; write logger in its place$/);
  assert.match(faults[1] ?? "", /HDFSEventSink of Flume is not part of Deneb; there is no sink for HDFS/);
});

const renamed = [
  { line: "type = rdb", old: "sinks.OrionMySQLSink", name: "NGSIMySQLSink" },
  { line: "type = rdb", old: "sinks.OrionPostgreSQLSink", name: "NGSIPostgreSQLSink" },
  { line: "handler = ngsi", old: "handlers.OrionRestHandler", name: "NGSIRestHandler" },
] as const;
for (const { line, old, name } of renamed)
  test(`of ${old} the name is said that it has since release 1.0`, () => {
    const written = line.replace(/\w+$/, `com.telefonica.iot.cygnus.${old}`);

    const faults = faultTexts(read(changed(line, written), { catalogue }));

    assert.match(faults.join(), new RegExp(`of the original is not part of Deneb; write ${name} in its place$`));
  });

const classNames = [
  { written: "SeaSink", known: true },
  { written: "org.example.sub.package.SeaSink", known: true },
  { written: "ORG.EXAMPLE.seasink", known: true },
  { written: "com.acme.SeaSink", known: false },
] as const;
for (const { written, known } of classNames)
  test(`the class name ${written} is ${known ? "known" : "not known"}`, () => {
    const { topology } = read(changed("type = rdb", `type = ${written}`), { catalogue });

    assert.equal(topology?.sinks[0]?.config["store_kind"], known ? "sea" : undefined);
  });

test("of a class name with a wrong letter the type is suggested that it stands for", () => {
  const [fault] = read(changed("type = rdb", "type = org.example.SeeSink"), { catalogue }).faults;

  assert.equal(fault?.nearest, "store");
});

for (const grouping of ["NGSIGroupingInterceptor", "GroupingInterceptor", "DestinationExtractor"])
  test(`an interceptor for grouping rules is left out with a warning: ${grouping}`, () => {
    const text = [
      changed("handler = ngsi", "handler = ngsi\na1.sources.http-source.interceptors = gi ts"),
      "a1.sources.http-source.interceptors.ts.type = timestamp",
      `a1.sources.http-source.interceptors.gi.type = com.telefonica.iot.cygnus.interceptors.${grouping}$Builder`,
      "a1.sources.http-source.interceptors.gi.grouping_rules_conf_file = /rules.conf",
    ];

    const { topology, faults } = read(text.join("\n"), { catalogue });

    assert.deepEqual(
      topology?.sources[0]?.interceptors.map(({ name }) => name),
      ["ts"],
    );
    assert.deepEqual(
      faults.map(({ severity, line }) => [severity, line]),
      [["warning", 12]],
    );
  });

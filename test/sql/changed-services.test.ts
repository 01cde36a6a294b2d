import assert from "node:assert/strict";
import { test } from "node:test";
import { type Naming, schemaName } from "../../core/ngsi/index.js";
import { reportingChanges } from "../../core/sql/row-builder.js";
import { recordingLog } from "../support/recording-log.js";

const naming: Naming = { dataModel: "dm-by-entity", database: "postgresql", encoding: false, lowercase: false };

function reported(services: readonly string[], encoding = false) {
  const { log, lines } = recordingLog();
  const named = { ...naming, encoding };
  const schemaOf = reportingChanges((address) => ({ database: "", schema: schemaName(address, named) }), named, log);
  for (const service of services) schemaOf({ service, servicePath: "/", api: "ld" });
  return lines.filter(({ level }) => level === "warn");
}

test("a service whose characters were replaced is reported once, with its schema and what to do", () => {
  const lines = reported([")$%^&", "farm", ")$%^&", "farm", ")$%^&"]);

  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.message, "name of a service changed");
  const { service, schema, remedy } = { service: "", schema: "", remedy: "", ...lines[0]?.fields };
  assert.deepEqual([service, schema], [")$%^&", "_____"]);
  assert.match(remedy, /receiverInfo/);
});

test("an encoded service is reported, one of letters, digits and _ is not", () => {
  assert.equal(reported(["my-city"], true).length, 1);
  assert.equal(reported(["my-city", "a.b", "OpenIoT", "farm_2", "default"]).length, 0);
  assert.equal(reported(["OpenIoT", "farm_2"], true).length, 0);
});

test("of services without end a hundred are reported, and that there are more", () => {
  const lines = reported(Array.from({ length: 1000 }, (_, index) => `s ${index}`));

  assert.equal(lines.length, 101);
  assert.equal(lines.at(-1)?.message, "names of many services changed; those that follow are not logged");
});

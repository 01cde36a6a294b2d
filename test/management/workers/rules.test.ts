import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentFiles } from "../../../core/management/configuration/agent-files.js";
import { gatewayRules } from "../../../core/management/workers/gateway.js";
import { catalogueOf } from "../../../core/registry/discover.js";
import { recordingLog } from "../../support/recording-log.js";
import { runningManagement } from "../../support/running-management.js";
import { dashboard } from "../asked-dashboard.js";

const parts = {
  team: { workers: [] },
  version: "1",
  access: { tokens: { read: [], admin: [] }, tls: false, hosts: [], page: true, bodyLimit: 1 },
  log: recordingLog().log,
  brokerMillis: 1000,
};

test("each documented operation of an agent has a rule of the gateway, and there is no other", async (context) => {
  const configuration = { files: new AgentFiles("/", "/running"), catalogue: catalogueOf([]).catalogue };
  const { call } = await runningManagement(context, { configuration, ...dashboard });

  const { body } = await call("GET", "/openapi.json");

  const documented = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(Object(operations)).map((method) => `${method} ${path}`),
  );
  const answered = gatewayRules(parts).rules.flatMap(({ methods, paths }) =>
    methods.flatMap((method) => paths.map((path) => `${method} ${path.replace(/[:*](\w+)/g, "{$1}")}`)),
  );
  assert.deepEqual(answered.toSorted(), documented.toSorted());
});

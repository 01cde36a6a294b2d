import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "../../core/embedded/index.js";
import { isEntityEvent } from "../../core/ngsi/index.js";
import { definePlugin } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";

/** Writes a number where a text belongs, as an interceptor in JavaScript may. */
const careless = definePlugin({
  apiVersion: 1,
  kind: "interceptor",
  type: "careless",
  summary: "Adds an attribute to some rooms.",
  stability: "beta",
  config: {},
  create: () => ({
    intercept(event) {
      if (!isEntityEvent(event) || !event.body.id.endsWith("2")) return event;
      const wrong = {
        name: "floor",
        type: "Property",
        form: "normalized",
        members: [],
        value: { kind: "number", text: 2 },
      };
      return { headers: event.headers, body: { ...event.body, attributes: [...event.body.attributes, wrong] } };
    },
  }),
});

test("behind a durable channel an entity that a plugin made wrong is a dead letter, and the others are stored", async (context) => {
  const folder = await tempFolder(context);
  const config = {
    sources: { in: { interceptors: { i: { type: "careless" } } } },
    channels: { ch: { type: "file" } },
    sinks: { rows: { type: "rdb", rdb_dialect: "sqlite", rdb_sqlite_dir: folder, batch_size: 4 } },
  };
  const agent = await testAgent({ plugins: [careless], config });
  context.after(() => agent.stop());

  await agent.inject(sampleNotifications.ld);
  await agent.inject(sampleNotifications.ld);
  await agent.settled();

  const letters = await agent.deadLetters();
  assert.deepEqual(
    letters.map(({ code }) => code),
    ["NOT_AN_ENTITY", "NOT_AN_ENTITY"],
  );
  assert.match(letters[0]?.message ?? "", /^storing entity "urn:ngsi-ld:Room:2": attribute "floor" has no value/);
});

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { autocannonLoad } from "./autocannon.js";
import { agentCase } from "./case.js";
import { measure } from "./measure.js";
import { needsPostgresql } from "./needs-postgresql.js";
import { type RecordedRequest, recordedRequests } from "./recorded.js";
import { type Survey, withSurveys } from "./survey.js";

const request = (body: unknown, headers: RecordedRequest["headers"] = []): RecordedRequest => ({
  method: "POST",
  path: "/notify",
  headers: [["Content-Type", "application/json"], ...headers],
  body: typeof body === "string" ? body : JSON.stringify(body),
});

const notification = (...ids: readonly string[]) => ({
  id: "urn:n:1",
  type: "Notification",
  subscriptionId: "urn:s:1",
  data: ids.map((id) => ({ id, type: "T", a: { type: "Property", value: 1 } })),
});

const v2 = { subscriptionId: "s", data: [{ id: "r", type: "T", a: { type: "Number", value: 1, metadata: {} } }] };

/** One entity, three, none, NGSI v2, and what is no notification. */
const requests = [
  request(notification("urn:a:1"), [["NGSILD-Tenant", "one"]]),
  request(notification("urn:a:2", "urn:a:3", "urn:a:4"), [["NGSILD-Tenant", "two"]]),
  request(notification()),
  request(v2, [["Fiware-Service", "three"]]),
  request("{"),
];

test("recorded requests are counted as an agent takes them: several events, none, or a refusal", async (context) => {
  const file = await fileOf(context, requests);

  const found = await withSurveys([file], async (surveys) =>
    surveys.map((survey) => [survey.requests, survey.events, survey.refused, eventsIn(survey)]),
  );

  assert.deepEqual(found, [[4, 5, 1, [1, 3, 0, 1]]]);
});

test("an agent under a load of recorded requests stores every event of them once", async (context) => {
  if (await needsPostgresql(context)) return;
  const file = await fileOf(context, requests);

  const run = await withSurveys([file], async ([survey]) => {
    const made = agentCase({ database: "postgresql", channel: "file", batchSize: 1, entities: 1 });
    const bench = { ...made, bodies: survey?.bodies ?? made.bodies };
    return await measure(bench, { generator: autocannonLoad, seconds: 1, connections: 3, looks: 0 });
  });

  assert.equal(run.load.refused, 0);
  assert.equal(run.rows?.found, run.rows?.expected);
  assert.equal((run.storedPerSecond ?? 0) > 0, true);
});

const wrong = [
  { what: "a line that is no JSON", lines: ["{"], message: /requests\.ndjson:1 is no \{"method"/ },
  {
    what: "headers that are no pairs",
    lines: ["", '{"method":"POST","path":"/","headers":["a"],"body":""}'],
    message: /:2 is/,
  },
  { what: "no line", lines: [""], message: /holds no request/ },
] as const;

for (const { what, lines, message } of wrong)
  test(`a file with ${what} is refused with its place`, async (context) => {
    const file = path.join(await tempFolder(context), "requests.ndjson");
    await writeFile(file, lines.join("\n"));

    assert.throws(() => recordedRequests(file), message);
  });

test("a file that is not there is refused with the option", () => {
  assert.throws(() => recordedRequests("none.ndjson"), /--bodies is "none.ndjson", which cannot be read: ENOENT/);
});

async function fileOf(context: TestContext, lines: readonly RecordedRequest[]): Promise<string> {
  const file = path.join(await tempFolder(context), "requests.ndjson");
  await writeFile(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  return file;
}

function eventsIn({ bodies }: Survey): readonly (number | undefined)[] {
  return recordedRequests(bodies.recorded).map(({ events }) => events);
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { agreed, judged, numbersIn } from "./judged.js";
import { killAgain } from "./killed-agent.js";
import { outageMilliseconds, patience, promise, rounds, seed } from "./measure.js";
import { hostilePostgresql, hostilePostgresqlOnSmallDisk } from "./own-hostile.js";
import { seeded } from "./seeded.js";
import { diskFilled, mishaps, schemaDropped, serverKilled, serverStopped } from "./troubles.js";
import { verdict } from "./verdict.js";

test(`PostgreSQL killed with SIGKILL ${rounds} times under load: ${promise}`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;

  await judged(context, { server, trouble: mishaps([serverKilled(server)], rounds, seeded(seed)) });
});

test(`PostgreSQL away for ${outageMilliseconds / 1000} seconds under load: ${promise}`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;

  await judged(context, { server, trouble: serverStopped(server, outageMilliseconds) });
});

test(`the disk of PostgreSQL full ${rounds} times under load: ${promise}`, async (context) => {
  const own = await hostilePostgresqlOnSmallDisk(context);
  if (own === undefined) return;
  const { server, disk } = own;

  await judged(context, { server, trouble: mishaps([diskFilled(server, disk, 1500)], rounds, seeded(seed)) });
});

test(`the schema dropped up to ${rounds * 3} times under load: ${promise}, but for the rows that were dropped`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const gone: number[] = [];

  await judged(context, { server, gone, trouble: mishaps([schemaDropped(server, gone)], rounds * 3, seeded(seed)) });
});

test("what an outage longer than the retries makes dead letters is logged with its reason, and stored once by a replay", async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const plan = {
    sink: { ...server.sink, batch_ttl: "2", batch_retry_intervals: "100" },
    folder: await tempFolder(context),
    kills: 0,
    clients: { count: 8 },
    random: seeded(seed),
    trouble: serverStopped(server, 1500),
    patience,
  };
  const end = await killAgain(plan, async (management) => {
    await fetch(`${management}/v1/admin/deadletters/replay`, { method: "POST" });
    await until(lettersAt(management), (count) => count === 0, patience);
  });

  assert.ok(end.letters.length > 0);
  assert.deepEqual([...new Set(end.letters.map(({ reason }) => reason))], ["retries-exhausted"]);
  agreed(context, verdict(end.sent, await numbersIn(server)));
});

function lettersAt(management: string): () => Promise<number> {
  return async () => JSON.parse(await (await fetch(`${management}/v1/admin/deadletters?limit=0`)).text()).count;
}

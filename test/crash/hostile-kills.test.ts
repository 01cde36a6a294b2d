import assert from "node:assert/strict";
import { test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { agreed, judged, numbersIn } from "./judged.js";
import { killAgain, type Trouble } from "./killed-agent.js";
import { kills, patience, promise, seed } from "./measure.js";
import { hostilePostgresql, hostilePostgresqlOnSmallDisk } from "./own-hostile.js";
import { seeded } from "./seeded.js";
import {
  connectionsEnded,
  diskFilled,
  type Mishap,
  mishaps,
  schemaDropped,
  serverKilled,
  serverStopped,
} from "./troubles.js";
import { verdict } from "./verdict.js";

test(`all of it while the agent is killed ${kills} times: ${promise}`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const gone: number[] = [];
  const choice = [
    serverKilled(server),
    serverStopped(server, 500),
    connectionsEnded(server),
    schemaDropped(server, gone),
  ];

  await judged(context, { server, gone, kills, trouble: endless(choice) });
});

test(`the disk of PostgreSQL full while the agent is killed ${kills} times: ${promise}`, async (context) => {
  const own = await hostilePostgresqlOnSmallDisk(context);
  if (own === undefined) return;
  const { server, disk } = own;

  await judged(context, { server, kills, trouble: endless([diskFilled(server, disk, 700), serverKilled(server)]) });
});

test("two agents, each killed and with one server that is killed too, share a table: each row is there once", async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const ends = await Promise.all(
    [1, 2].map(async (first) => {
      const plan = { sink: server.sink, folder: await tempFolder(context), kills, patience };
      const trouble = first === 1 ? { trouble: endless([serverKilled(server), connectionsEnded(server)]) } : {};
      return await killAgain({
        ...plan,
        ...trouble,
        clients: { count: 4, first, step: 2 },
        random: seeded(seed + first),
      });
    }),
  );

  for (const { letters } of ends) assert.deepEqual(letters, []);
  const sent = {
    accepted: new Set(ends.flatMap((end) => [...end.sent.accepted])),
    others: new Set(ends.flatMap((end) => [...end.sent.others])),
  };
  agreed(context, verdict(sent, await numbersIn(server)));
});

function endless(choice: readonly Mishap[]): Trouble {
  return mishaps(choice, Number.POSITIVE_INFINITY, seeded(seed + 1));
}

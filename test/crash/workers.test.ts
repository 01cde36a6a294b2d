import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { runCli } from "../support/run-cli.js";
import { storingAgentWith } from "../support/storing-agent.js";
import { killWorker, teamOf } from "../support/team.js";
import { until } from "../support/until.js";
import { Clients } from "./clients.js";
import { agreed } from "./judged.js";
import { kills } from "./measure.js";
import { verdict } from "./verdict.js";

const WORKERS = 3;
/** Each worker once, or more often. */
const KILLS = Math.max(kills, WORKERS);

test("every accepted notification is one row while workers are killed again and again", async (context) => {
  const lines = ["deneb.channels.c.type = file", "deneb.channels.c.capacity = 1000000"];
  const storing = await storingAgentWith(context, { lines, env: { DENEB_WORKERS: String(WORKERS) } });
  if (storing === undefined) return;
  const { agent, database, folder, propertiesFile } = storing;
  const clients = new Clients(agent.notifyUrl, { count: 8 });
  context.after(() => clients.stop());

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const before = clients.accepted;
    await until(
      async () => clients.accepted,
      (accepted) => accepted > before + 20,
    );
    await killWorker(agent, 1 + (kill % WORKERS));
  }
  const sent = await clients.stop();
  await until(
    () => teamOf(agent),
    ({ ledger: { channels } }) => channels[0]?.waiting === 0,
  );

  const rows = await database.query("select number from crash.room");
  agreed(
    context,
    verdict(
      sent,
      rows.map(({ number }) => Number(number)),
    ),
  );
  assert.equal(await agent.end("SIGTERM"), 0);
  const of = ["--data-dir", path.join(folder, "data"), "--management-port", "1"];
  const { code, stderr } = await runCli(["verify", "-f", propertiesFile, ...of]);
  assert.equal(`${code} ${stderr}`, "0 ");
});

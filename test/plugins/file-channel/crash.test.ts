import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { never } from "../../../core/testing/channel-fixture.js";
import { tempFolder } from "../../support/temp-folder.js";
import { openIn } from "./channel-folder.js";
import { CrashLedger } from "./crash-ledger.js";

const child = fileURLToPath(new URL("./crash-child.js", import.meta.url));
const KILLS = Number(process.env["DENEB_TEST_KILLS"] ?? 30);

test(`a process that is killed ${KILLS} times loses nothing it acknowledged and sees nothing it committed again`, async (context) => {
  const folder = await tempFolder(context);
  const ledger = new CrashLedger();

  // Every seventh life ends while it opens the channel.
  for (let life = 1; life <= KILLS; life += 1) {
    await live(context, folder, ledger, life % 7 === 0 ? 1 : 2 + ((life * 7919) % 1500));
  }

  const { channel, lines } = await openIn(folder);
  const left = new Set<number>();
  while (channel.size > 0) {
    const transaction = channel.openTake();
    const events = await transaction.take(1000, never);
    const ids = events.map(({ body }) => Number(Reflect.get(Object(body), "id")));
    ledger.deliver(ids);
    for (const id of ids) left.add(id);
    await transaction.commit();
  }
  await channel.stop();

  context.diagnostic(`${ledger.put.size} events put, ${ledger.committed.size} committed, ${left.size} left`);
  assert.ok(ledger.put.size > KILLS);
  assert.ok(ledger.committed.size > 0);
  assert.deepEqual([...ledger.seenAgain], []);
  assert.deepEqual(ledger.lost(left), []);
  assert.deepEqual(ledger.torn(left), []);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error"),
    [],
  );
});

/** Runs the child until it has written some lines, then kills it; notes every line that came. */
async function live(context: TestContext, folder: string, ledger: CrashLedger, lines: number): Promise<void> {
  const from = Math.ceil((ledger.highest + 1) / 3) * 3;
  const running = spawn(process.execPath, [child, folder, String(from)], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => running.kill("SIGKILL"));
  let count = 0;
  const output = createInterface({ input: running.stdout }).on("line", (line) => {
    count += 1;
    if (count === lines) running.kill("SIGKILL");
    ledger.note(line);
  });
  const [[code, signal]] = await Promise.all([once(running, "exit"), once(output, "close")]);
  assert.deepEqual([code, signal], [null, "SIGKILL"]);
}

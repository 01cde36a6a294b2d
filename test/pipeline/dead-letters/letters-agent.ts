import path from "node:path";
import type { TestContext } from "node:test";
import { type DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { LetterFollower } from "../../../core/pipeline/dead-letters/letter-follower.js";
import { Erasures } from "../../../core/pipeline/erasures.js";
import type { HealthReport } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { SharedChannel, type SharedLog } from "../../support/shared-channel.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

/** What one agent has of the letters of a log. */
export async function agentOf(context: TestContext, shared: SharedLog, folder?: string) {
  const channel = new SharedChannel(shared);
  await channel.start();
  const own = folder ?? (await tempFolder(context));
  const letters = new DeadLetters(own);
  await letters.start();
  const { log, lines } = recordingLog();
  const erasures = new Erasures(path.join(own, "erasures.json"));
  await erasures.start();
  const of = { shared: () => channel.letters, summary: () => channel.log() };
  const reports: HealthReport[] = [];
  const report = (health: HealthReport) => void reports.push(health);
  const follower = new LetterFollower({ ...of, letters, erasures, log, report });
  await follower.add("k1");
  await follower.start();
  const stop = async () => {
    await follower.stop();
    await channel.stop();
    await letters.stop();
  };
  context.after(stop);
  const ids = async () => {
    const all: string[] = [];
    for await (const { id } of letters.open()) all.push(id);
    return all;
  };
  const has = (...wanted: readonly string[]) => until(ids, (all) => all.join() === wanted.join());
  return { letters, follower, erasures, channel, ids, has, stop, folder: own, lines, reports };
}

export const letter = (id: string): DeadLetter => ({
  id,
  time: "2026-01-15T10:20:30.123Z",
  sink: "k1",
  reason: "permanent",
  message: "storing a value",
  attempts: 1,
  event: { headers: {}, body: { id } },
});

import { writeSync } from "node:fs";
import { never } from "../../../core/testing/channel-fixture.js";
import { openIn } from "./channel-folder.js";

const [folder = "", from = "0"] = process.argv.slice(2);
const PUTTERS = 3;
const TAKERS = 2;

say("opening", []);
const { channel } = await openIn(folder);
say("opened", []);
await Promise.all([...range(PUTTERS).map(putForEver), ...range(TAKERS).map(takeForEver)]);

/** Puts three events at a time, and says so before and after. */
async function putForEver(putter: number): Promise<never> {
  for (let next = Number(from) + putter * 3; ; next += PUTTERS * 3) {
    const ids = range(3).map((step) => next + step);
    const transaction = channel.openPut();
    for (const id of ids) transaction.put({ headers: {}, body: { id, padding: "x".repeat((id * 37) % 2000) } });
    say("putting", ids);
    await transaction.commit();
    say("put", ids);
  }
}

async function takeForEver(taker: number): Promise<never> {
  for (let round = taker; ; round += 1) {
    const transaction = channel.openTake();
    const events = await transaction.take(1 + (round % 7), never);
    const ids = events.map(({ body }) => idOf(body));
    say("taken", ids);
    if (round % 5 === 0) {
      await transaction.rollback();
      continue;
    }
    say("committing", ids);
    await transaction.commit();
    say("committed", ids);
  }
}

// One line in one write: the parent sees all of it or nothing, and in the order in which it happened.
function say(what: string, ids: readonly number[]): void {
  writeSync(1, `${what} ${ids.join(" ")}\n`);
}

function idOf(body: unknown): number {
  return typeof body === "object" && body !== null && "id" in body ? Number(body.id) : Number.NaN;
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

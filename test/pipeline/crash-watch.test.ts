import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { CrashWatch } from "../../core/pipeline/crash-watch.js";
import { InHand } from "../../core/pipeline/in-hand.js";
import type { Event } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";

const eventOf = (id: number): Event => ({ headers: { "transaction-id": `t${id}` }, body: { id } });
const [first, second, third] = [eventOf(1), eventOf(2), eventOf(3)] as const;

async function fileIn(context: TestContext): Promise<string> {
  return path.join(await tempFolder(context), "in-hand");
}

/** One process: what it does with one sink, and an end without a stop. */
async function life(file: string, act: (sink: InHand) => void | Promise<void>): Promise<void> {
  const watch = new CrashWatch(file);
  watch.open();
  const sink = watch.of("s1");
  await act(sink);
  // What a killed process cannot do any more must not happen here either: its timers and its thread.
  watch.leave();
  await turn();
}

/** What a process after all of them thinks of an event. */
async function verdict(file: string, event: Event): Promise<"set aside" | "alone" | "as it comes"> {
  let said: "set aside" | "alone" | "as it comes" = "as it comes";
  await life(file, (sink) => {
    if (sink.suspicion !== undefined) said = sink.isSetAside(event) ? "set aside" : "alone";
  });
  return said;
}

/** The mark as it stands when the process ends in the middle of the hand-over. */
async function killedWith(file: string, events: readonly Event[], evidence: boolean): Promise<void> {
  const watch = new CrashWatch(file);
  watch.open();
  const sink = watch.of("s1");
  sink.begin(events);
  if (evidence) sink.died();
  const left = readFileSync(file);
  watch.close();
  writeFileSync(file, left);
}

test("an event that ends the process twice while alone in hand is set aside at the third start", async (context) => {
  const file = await fileIn(context);

  await killedWith(file, [first], true);
  assert.equal(await verdict(file, first), "alone");
  await killedWith(file, [first], true);

  assert.equal(await verdict(file, first), "set aside");
  assert.equal(await verdict(file, second), "alone");
});

test("of a batch that ends the process every event is alone in hand after it, and only then deaths count", async (context) => {
  const file = await fileIn(context);

  await killedWith(file, [first, second, third], true);
  assert.equal(await verdict(file, first), "alone");
  await life(file, (sink) => {
    sink.begin([first]);
    sink.end();
    sink.passed(first);
    assert.notEqual(sink.suspicion, undefined);
  });
  await killedWith(file, [second], true);
  assert.equal(await verdict(file, second), "alone");
  await killedWith(file, [second], true);

  assert.equal(await verdict(file, second), "set aside");
  assert.equal(await verdict(file, first), "alone");
});

const instantNames = ["before", "handed over", "waiting", "between two tries", "after"] as const;
type Death = (file: string, events: readonly Event[]) => Promise<void>;
const deaths = {
  before: (file) => life(file, () => {}),
  "handed over": (file, events) => killedWith(file, events, false),
  waiting: (file, events) => life(file, (sink) => handedOver(sink, events)),
  "between two tries": (file, events) =>
    life(file, async (sink) => {
      await handedOver(sink, events);
      sink.end();
    }),
  after: (file, events) =>
    life(file, async (sink) => {
      await handedOver(sink, events);
      sink.end();
      for (const event of events) sink.passed(event);
    }),
} as const satisfies Record<(typeof instantNames)[number], Death>;

async function handedOver(sink: InHand, events: readonly Event[]): Promise<void> {
  sink.begin(events);
  await turn();
}

test("a process that is killed at any instant any number of times never has an event set aside", async (context) => {
  const file = await fileIn(context);
  const instants = fc.array(fc.constantFrom(...instantNames), {
    minLength: 2,
    maxLength: 12,
  });
  const seed = Number(process.env["DENEB_TEST_SEED"] ?? Date.now() % 1_000_000);
  context.diagnostic(`seed ${seed}`);

  for (const ofRun of [20_261_122, seed]) {
    await fc.assert(
      fc.asyncProperty(instants, fc.boolean(), async (kills, alone) => {
        for (const kill of kills) {
          await deaths[kill](file, alone ? [first] : [first, second]);
          assert.notEqual(await verdict(file, first), "set aside");
        }
      }),
      { seed: ofRun, numRuns: 60 },
    );
  }
});

test("who waits for a store when the process ends is not suspected", async (context) => {
  const file = await fileIn(context);

  for (let round = 0; round < 3; round += 1) {
    await life(file, async (sink) => {
      sink.begin([first]);
      await turn();
      await turn();
      sink.died();
    });
  }

  assert.equal(await verdict(file, first), "as it comes");
});

test("an event that passes once starts anew: the deaths before had another cause", async (context) => {
  const file = await fileIn(context);
  await killedWith(file, [first], true);

  await life(file, async (sink) => {
    sink.begin([first]);
    await turn();
    sink.end();
  });
  await killedWith(file, [first], true);

  assert.equal(await verdict(file, first), "alone");
});

test("a stop that was asked for leaves no suspicion and no evidence", async (context) => {
  const file = await fileIn(context);
  const watch = new CrashWatch(file);
  watch.open();
  watch.of("s1").begin([first]);

  watch.close();

  assert.equal(await verdict(file, first), "as it comes");
});

test("a damaged file holds no suspicion", async (context) => {
  const file = await fileIn(context);
  await killedWith(file, [first], true);
  writeFileSync(file, readFileSync(file).subarray(3));

  assert.equal(await verdict(file, first), "as it comes");
});

test("a suspected event from which the process does not come back is noted as stuck by another thread", async (context) => {
  const file = await fileIn(context);
  await killedWith(file, [first], false);
  const watch = new CrashWatch(file);
  watch.open();
  context.after(() => watch.close());
  const sink = watch.of("s1");

  await sink.watched();
  sink.begin([first]);
  const from = Date.now();
  while (!readFileSync(file, "latin1").startsWith("stuck") && Date.now() - from < 30_000);

  assert.match(readFileSync(file, "latin1"), /^stuck/);
});

test("a mark that cannot be written, as on a full disk, keeps nothing from its sink", {
  skip: process.platform !== "linux",
}, async (context) => {
  const file = { path: "/dev/full", handle: openSync("/dev/full", "w") };
  context.after(() => closeSync(file.handle));
  const sink = new InHand({ sink: "s1", before: undefined, place: { file, row: 0 } });

  sink.begin([first]);
  await turn();
  sink.end();
  sink.died();

  assert.equal(sink.suspicion, undefined);
});

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { AnyPlugin } from "../sdk/index.js";
import { inRoom } from "./component-fixture.js";
import { assertEmitted, assertEmittedAgain, failure } from "./expectations.js";
import type { ConformanceCase, PluginSetup } from "./plugin-setup.js";
import { SourceBench } from "./source-bench.js";

/** What a source does with what is sent to it; none when the setup cannot send. */
export async function sourceCases(
  definition: AnyPlugin,
  { openInlet }: PluginSetup,
): Promise<readonly ConformanceCase[]> {
  if (definition.kind !== "source" || openInlet === undefined) return [];
  let able: readonly SourceCase[] = [];
  await inRoom(async ({ folder }) => {
    const inlet = await openInlet(folder);
    if (inlet.tcp !== undefined) able = lostConnectionCases;
    await inlet.close();
  });
  return [...inletCases, ...able].map(({ name, run }) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        const inlet = await openInlet(room.folder);
        const bench = new SourceBench(definition, inlet, room);
        try {
          await run(bench);
        } finally {
          await bench.end();
        }
      }),
  }));
}

/** What is sent while the channels are full, and how much of it may wait for them. */
const SENT_WHILE_FULL = 300;
const MOST_WAITING = 100;
const SOME_SENT = 3;
const SOME_MILLIS = 1000;

interface SourceCase {
  readonly name: string;
  run(bench: SourceBench): Promise<void>;
}

export const inletCases: readonly SourceCase[] = [
  {
    name: "what is sent one after the other is emitted once and in that order",
    async run(bench) {
      await bench.start();

      for (const text of ["a", "b", "c"]) assert.equal(await bench.send(text), true);
      await bench.untilEmitted("c");

      assertEmitted(bench.emitted, ["a", "b", "c"]);
    },
  },
  {
    name: "what is emitted are events with texts as headers and a body that is JSON",
    async run(bench) {
      await bench.start();

      await bench.send("a");
      await bench.untilEmitted("a");
    },
  },
  {
    name: "what the channels have no room for is refused or emitted again, and not lost",
    async run(bench) {
      await bench.start();
      bench.refuse(2);

      for (let tries = 1; !(await bench.send("a")); tries++) assert.ok(tries < 5, "it is refused again and again");
      await bench.untilEmitted("a");
      assert.equal(await bench.send("b"), true);
      await bench.untilEmitted("b");

      assertEmitted(bench.emitted, ["a", "b"]);
    },
  },
  {
    name: "after stop nothing is emitted, and what a broker keeps for a stopped source reaches the next one",
    async run(bench) {
      const stop = await bench.start();
      await bench.send("a");
      await bench.untilEmitted("a");
      await stop();

      const taken = await bench.send("b").catch(() => false);
      assertEmitted(bench.emitted, ["a"]);
      await bench.start();
      assert.equal(await bench.send("c"), true);
      await bench.untilEmitted("c");

      assertEmitted(bench.emitted, taken ? ["a", "b", "c"] : ["a", "c"]);
    },
  },
  {
    name: "while the channels take nothing few emits wait, and what was sent meanwhile is emitted in order",
    async run(bench) {
      await bench.start();
      const release = bench.hold();
      const { texts, last } = await sentWhileFull(bench);

      const ignores = texts.length > MOST_WAITING && (await bench.moreWait(MOST_WAITING));
      release();

      if (ignores) throw failure(ignoresRoom);
      assert.equal(await last, true);
      for (const text of texts) await bench.untilEmitted(text);
      assertEmitted(bench.emitted, texts);
    },
  },
  {
    name: "what is refused while it waits for room is not overtaken by what was sent after it",
    async run(bench) {
      await bench.start();
      const release = bench.hold();
      const { texts, last } = await sentWhileFull(bench, SOME_SENT);
      await bench.untilWaits();

      bench.refuse(1);
      release();

      const taken = (await last) ? texts : texts.slice(0, -1);
      for (const text of taken) await bench.untilEmitted(text);
      assertEmitted(bench.emitted, taken);
    },
  },
  {
    name: "what is refused for good is not taken, and holds nothing up",
    async run(bench) {
      await bench.start();
      bench.refuseForGood("never");

      await bench.send("never");
      assert.equal(await bench.send("a"), true);
      await bench.untilEmitted("a");

      assertEmitted(bench.emitted, ["a"]);
    },
  },
  {
    name: "what waits for room when a source stops is refused, or reaches the next one",
    async run(bench) {
      const stop = await bench.start();
      const release = bench.hold();
      const sent = bench.send("a").catch(() => false);
      await bench.untilWaits();

      const stopped = stop();
      bench.refuse(Number.POSITIVE_INFINITY);
      release();
      await stopped;
      const taken = await sent;
      bench.refuse(0);
      await bench.start();
      assert.equal(await bench.send("b"), true);
      await bench.untilEmitted("b");

      assertEmitted(bench.emitted, taken ? ["a", "b"] : ["b"]);
    },
  },
];

/** What is there of a source that connects to what its inlet says. */
export const lostConnectionCases: readonly SourceCase[] = [
  {
    name: "after its connections were lost a source takes what is sent then",
    async run(bench) {
      const way = await bench.startOnWay();
      await bench.send("a");
      await bench.untilEmitted("a");

      way.cut();
      for (const text of ["b", "c"]) assert.equal(await bench.send(text), true);
      await bench.untilEmitted("c");

      assertEmittedAgain(bench.emitted, ["a", "b", "c"]);
    },
  },
  {
    name: "what waits for room when its connections are lost is not lost, nor overtaken by what was sent after it",
    async run(bench) {
      const way = await bench.startOnWay();
      const release = bench.hold();
      const texts = ["a", "b", "c"];
      for (const text of texts) assert.equal(await bench.send(text), true);
      await bench.untilWaits();

      way.cut();
      bench.refuse(1);
      release();
      for (const text of texts) await bench.untilEmitted(text);

      assertEmittedAgain(bench.emitted, texts);
    },
  },
];

const ignoresRoom =
  `while the channels take nothing more than ${MOST_WAITING} emits wait, of messages whose sender was told that they are sent; ` +
  "await each receive and each emit before the next one: what waits is in memory alone, and lost when the process ends";

/** Sends until a sender has to wait, as one does that is answered when its message is taken. */
async function sentWhileFull(
  bench: SourceBench,
  most = SENT_WHILE_FULL,
): Promise<{ texts: readonly string[]; last: Promise<boolean> }> {
  const texts: string[] = [];
  let last = Promise.resolve(true);
  while (texts.length < most) {
    const text = `t${texts.length}`;
    texts.push(text);
    last = bench.send(text);
    last.catch(() => undefined);
    const waits = await Promise.race([last.then(() => false), setTimeout(SOME_MILLIS, true, { ref: false })]);
    if (waits) break;
  }
  return { texts, last };
}

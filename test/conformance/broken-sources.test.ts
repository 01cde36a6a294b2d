import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { definePlugin, reasonOf, retryableOf, type SourceContext } from "../../core/sdk/index.js";
import { pluginConformance } from "../../core/testing/index.js";

type EmitOne = () => Promise<void>;

/** A source of messages of a client that has no part in it, such as those of a broker, which keeps what is not taken. */
interface Takes {
  /** Takes a message; resolves to false when it is not in the channels, and the broker keeps it. */
  take(emit: EmitOne, isStopped: () => boolean): Promise<boolean>;
}

const inTurn = (): Takes => {
  let before: Promise<unknown> = Promise.resolve();
  return {
    take(emit, isStopped) {
      const taken = before.then(() => again(emit, isStopped));
      before = taken;
      return taken;
    },
  };
};

/** A message that is refused for good is done. */
const inTurnOrNever = (): Takes => {
  const { take } = inTurn();
  return {
    take: (emit, isStopped) =>
      take(
        () => emit().catch((error: unknown) => (retryableOf(error) === false ? undefined : Promise.reject(error))),
        isStopped,
      ),
  };
};

const full = "while the channels take nothing few emits wait, and what was sent meanwhile is emitted in order";
const overtaken = "what is refused while it waits for room is not overtaken by what was sent after it";
const forGood = "what is refused for good is not taken, and holds nothing up";
const stopped = "what waits for room when a source stops is refused, or reaches the next one";

const sources = [
  { does: "takes a message when the one before is in the channels", takes: inTurn, of: full, fault: "" },
  { does: "takes a message when the one before is in the channels", takes: inTurn, of: overtaken, fault: "" },
  { does: "takes a message when the one before is in the channels", takes: inTurn, of: stopped, fault: "" },
  {
    does: "awaits nothing",
    takes: (): Takes => ({ take: again }),
    of: full,
    fault:
      "while the channels take nothing more than 100 emits wait, of messages whose sender was told that they are sent; " +
      "await each receive and each emit before the next one: what waits is in memory alone, and lost when the process ends",
  },
  {
    does: "has several messages in hand and tries each again by itself",
    takes: (): Takes => ({ take: again }),
    of: overtaken,
    fault: 'emitted in another order than sent: "t1", "t2", "t0" instead of "t0", "t1", "t2"',
  },
  { does: "takes a message when the one before is in the channels", takes: inTurnOrNever, of: forGood, fault: "" },
  {
    does: "tries what is refused for good again and again",
    takes: inTurn,
    of: forGood,
    fault: '"a" was sent and not emitted within 10 s; emitted are 0 others',
  },
  {
    does: "acknowledges what it has in hand when it stops",
    takes: (): Takes => ({
      async take(emit, isStopped) {
        await again(emit, isStopped);
        return true;
      },
    }),
    of: stopped,
    fault: 'not emitted, although its sender was told that it is sent: "a"',
  },
];

async function again(emit: EmitOne, isStopped: () => boolean): Promise<boolean> {
  let isTaken = false;
  while (!isTaken && !isStopped()) {
    isTaken = await emit().then(
      () => true,
      () => setTimeout(5, false),
    );
  }
  return isTaken;
}

for (const { does, takes, of, fault } of sources)
  test(`of a source that ${does}, ${fault === "" ? "nothing" : "the fault"} is said: ${of}`, async () => {
    const kept: string[] = [];
    let told = () => {};
    const definition = definePlugin({
      apiVersion: 1,
      kind: "source",
      type: "fed",
      summary: "Takes messages.",
      stability: "beta",
      config: {},
      create: (_, { emit }: SourceContext<unknown>) => {
        const { take } = takes();
        let isStopped = true;
        let taking: Promise<unknown> = Promise.resolve();
        return {
          async start() {
            isStopped = false;
            told = () => {
              for (const text of isStopped ? [] : kept.splice(0)) {
                const taken = take(
                  () => emit([{ headers: {}, body: text }]),
                  () => isStopped,
                );
                taking = Promise.all([taking, taken.then((isTaken) => isTaken || kept.push(text))]);
              }
            };
            told();
          },
          async stop() {
            isStopped = true;
            await taking;
          },
        };
      },
    });
    const openInlet = async () => ({
      config: {},
      async send(text: string) {
        kept.push(text);
        told();
        return true;
      },
      close: async () => {},
    });
    const cases = await pluginConformance(definition, { openInlet });
    const found = cases.find(({ name }) => name === of);
    assert.ok(found !== undefined);

    const reason = await found.run().then(
      () => "",
      (error: unknown) => reasonOf(error),
    );

    assert.equal(reason, fault);
  });

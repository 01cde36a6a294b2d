import assert from "node:assert/strict";
import type { Channel } from "../../sdk/index.js";
import {
  type ChannelCase,
  type ChannelLimits,
  drain,
  type FurtherCase,
  holds,
  type OpenChannel,
  put,
  take,
  upTo,
} from "../channel-fixture.js";
import type { ConformanceCase } from "../plugin-setup.js";
import { durableCases, stoppedCases } from "./durable.js";
import { transactionCases } from "./transactions.js";
import { refusingCases, sharedCases } from "./two-agents.js";
import { waitingCases } from "./waiting.js";
import { wholeCases } from "./whole.js";

/** Makes and starts an empty channel with these limits. */
type MakeChannel = (limits: ChannelLimits) => Promise<Channel>;

/**
 * How the cases get at what a channel promises beyond its limits; what is absent is not promised, and not tested.
 * @stable
 */
export interface ChannelPromises {
  /** Starts a channel over what a channel that was abandoned, as by a crash, has left. */
  reopen?(abandoned: Channel): Promise<Channel>;
  /** Starts a channel over what one that was stopped has left. */
  restart?(stopped: Channel): Promise<Channel>;
  /** Starts a channel with the same values while the first one works; rejects where the second one is refused. */
  second?(first: Channel): Promise<Channel>;
  /** What two agents with the same values are. */
  readonly twoAgents?: "refused" | "shared" | undefined;
}

const usual: ChannelLimits = { capacity: 10, transactionCapacity: 5, waitSeconds: 0 };

/** What every channel does, whatever it keeps its events in; and what the given one promises. @stable */
export function channelConformance(make: MakeChannel, promises: ChannelPromises = {}): readonly ConformanceCase[] {
  const { reopen, restart, second, twoAgents } = promises;
  const always = [...transactionCases, ...waitingCases, ...sharingCases, ...wholeCases];
  const ofTwo = twoAgents === "shared" ? sharedCases : refusingCases;
  return [
    ...always.map(({ name, run }) => caseOf(name, make, run)),
    ...(restart === undefined ? [] : furtherCases(stoppedCases, make, restart)),
    ...(reopen === undefined ? [] : furtherCases(durableCases, make, reopen)),
    ...(second === undefined || twoAgents === undefined ? [] : furtherCases(ofTwo, make, second)),
  ];
}

function furtherCases(cases: readonly FurtherCase[], make: MakeChannel, further: (first: Channel) => Promise<Channel>) {
  return cases.map(({ name, run }) =>
    caseOf(name, make, (open, opened) =>
      run(open, async (first) => {
        const channel = await further(first);
        opened.push(channel);
        return channel;
      }),
    ),
  );
}

function caseOf(
  name: string,
  make: MakeChannel,
  run: (open: OpenChannel, opened: Channel[]) => Promise<void>,
): ConformanceCase {
  return {
    name,
    async run() {
      const opened: Channel[] = [];
      const open: OpenChannel = async (limits) => {
        const channel = await make({ ...usual, ...limits });
        opened.push(channel);
        return channel;
      };
      try {
        await run(open, opened);
      } finally {
        for (const channel of opened) await channel.stop(AbortSignal.abort());
      }
    },
  };
}

/** Several takers at once. */
const sharingCases: readonly ChannelCase[] = [
  {
    name: "takers that finish out of order leave nothing behind and see nothing twice",
    async run(open) {
      const channel = await open();
      await put(channel, 1, 2, 3, 4, 5);

      const [one, two, three] = [await take(channel, 2), await take(channel, 2), await take(channel, 2)];
      await three.transaction.commit();
      await one.transaction.commit();
      await two.transaction.commit();

      assert.deepEqual([one.bodies, two.bodies, three.bodies], [[1, 2], [3, 4], [5]]);
      holds(channel, 0);
    },
  },
  ...[
    { title: "oldest first", order: [0, 1, 2] },
    { title: "newest first", order: [2, 1, 0] },
    { title: "mixed", order: [1, 2, 0] },
  ].map(
    ({ title, order }): ChannelCase => ({
      name: `takers that roll back ${title} leave the events in order`,
      async run(open) {
        const channel = await open();
        await put(channel, 0, 1, 2, 3);
        await put(channel, 4, 5, 6, 7);
        const taken = [await take(channel, 2), await take(channel, 2), await take(channel, 2)];

        for (const index of order) await taken[index]?.transaction.rollback();

        assert.deepEqual(await drain(channel, 5), upTo(8));
      },
    }),
  ),
  {
    name: "a taker between two that roll back keeps its events",
    async run(open) {
      const channel = await open();
      await put(channel, 0, 1, 2, 3, 4);
      const [one, two, three] = [await take(channel, 1), await take(channel, 2), await take(channel, 2)];

      await one.transaction.rollback();
      await three.transaction.rollback();
      await two.transaction.commit();

      assert.deepEqual(await drain(channel, 5), [0, 3, 4]);
    },
  },
  {
    name: "several putters and takers at once lose nothing and see nothing twice",
    async run(open) {
      const channel = await open({ capacity: 40, transactionCapacity: 7, waitSeconds: 60 });
      const putters = 4;
      const each = 150;
      const abort = new AbortController();
      const seen: number[] = [];
      let rounds = 0;

      const takers = [3, 5, 7].map(async (max) => {
        for (;;) {
          const transaction = channel.openTake();
          const events = await transaction.take(max, abort.signal);
          if (events.length === 0) return;
          rounds += 1;
          if (rounds % 5 === 0) await transaction.rollback();
          else {
            seen.push(...events.map(({ body }) => Number(body)));
            await transaction.commit();
          }
          if (seen.length === putters * each) abort.abort();
        }
      });
      const puts = upTo(putters).map(async (putter) => {
        for (let next = 0; next < each; next += 3) {
          await put(channel, ...[0, 1, 2].map((step) => putter * 1000 + next + step));
        }
      });
      await Promise.all([...puts, ...takers]);

      holds(channel, 0);
      assert.deepEqual(
        [...seen].sort((one, other) => one - other),
        upTo(putters).flatMap((putter) => upTo(each).map((next) => putter * 1000 + next)),
      );
    },
  },
];

import fc from "fast-check";
import { channelKinds, type Setup, sinkKinds } from "./model-agent.js";
import type { Mood } from "./model-store.js";

/** What happens next in a history. */
export type Step =
  | {
      readonly do: "put";
      readonly events: number;
      /** The number of the event that no store takes; 0 for none. */
      readonly poison: number;
      readonly wait: boolean;
    }
  | { readonly do: "turns"; readonly count: number }
  | { readonly do: "script"; readonly moods: readonly Mood[] }
  | { readonly do: "away" | "back" | "replay" | "take poison" | "twin" | "end twin" | "crash at a commit" }
  | { readonly do: "crash"; readonly wait: boolean }
  | { readonly do: "stop"; readonly grace: number }
  | {
      readonly do: "reload";
      readonly channel: boolean;
      readonly sinks: readonly number[];
      readonly grace: number;
      readonly wait: boolean;
    };

export interface History {
  readonly setup: Setup;
  readonly steps: readonly Step[];
}

/** Without commits whose answer is lost: what docs/delivery.md says of a channel that forgets, and of several sinks. */
const certain: readonly Mood[] = ["works", "refuses", "odd", "never commits", "hangs"];
const unsure: readonly Mood[] = [...certain, "loses the answer", "commits later", "hangs and commits"];

function stepFor({ channel, sinks: kind }: Setup): fc.Arbitrary<Step> {
  const moods = fc.array(fc.constantFrom(...(channel === "memory" || kind === "two" ? certain : unsure)), {
    minLength: 1,
    maxLength: 6,
  });
  const events = fc.integer({ min: 1, max: 8 });
  const grace = fc.constantFrom(0, 15);
  const put = fc.record({ do: fc.constant<"put">("put"), events, poison: rarely, wait: fc.boolean() });
  const turns = fc.record({ do: fc.constant<"turns">("turns"), count: fc.integer({ min: 1, max: 12 }) });
  const script = fc.record({ do: fc.constant<"script">("script"), moods });
  const plain = fc.constantFrom<Step>(
    { do: "away" },
    { do: "back" },
    { do: "replay" },
    { do: "take poison" },
    { do: "crash at a commit" },
  );
  const crash = fc.record({ do: fc.constant<"crash">("crash"), wait: fc.boolean() });
  const stop = fc.record({ do: fc.constant<"stop">("stop"), grace });
  const sinks = fc.subarray([0, 1]);
  const reload = fc.record({
    do: fc.constant<"reload">("reload"),
    channel: fc.boolean(),
    sinks,
    grace,
    wait: fc.boolean(),
  });
  const twin = fc.constantFrom<Step>({ do: "twin" }, { do: "end twin" });
  return fc.oneof(
    { arbitrary: put, weight: 8 },
    { arbitrary: turns, weight: 6 },
    { arbitrary: script, weight: 5 },
    { arbitrary: plain, weight: 4 },
    { arbitrary: crash, weight: 2 },
    { arbitrary: stop, weight: 1 },
    { arbitrary: reload, weight: 3 },
    ...(channel === "memory" ? [] : [{ arbitrary: twin, weight: 1 }]),
  );
}

const rarely = fc.integer({ min: -20, max: 8 }).map((number) => Math.max(0, number));

export const histories: fc.Arbitrary<History> = fc
  .record({
    channel: fc.constantFrom(...channelKinds),
    sinks: fc.constantFrom(...sinkKinds),
    batchSize: fc.integer({ min: 1, max: 4 }),
  })
  .chain((setup) =>
    fc.record({ setup: fc.constant(setup), steps: fc.array(stepFor(setup), { minLength: 1, maxLength: 25 }) }),
  );

import { inspect } from "node:util";
import { causesOf } from "../sdk/causes.js";
import { frozen } from "../sdk/frozen.js";
import { type AnyPlugin, type Event, type Receipt, retryableOf, type Sink } from "../sdk/index.js";
import { asKind, inRoom } from "./component-fixture.js";
import { assertStored, failure } from "./expectations.js";
import { activeResources, assertGone } from "./left-open.js";
import { hostileNames, hostileValues, markedEvent } from "./marked-event.js";
import { called } from "./plugin-calls.js";
import type { ConformanceCase, ConformanceStore, PluginSetup, Values } from "./plugin-setup.js";

/** What a case of a sink works with. */
export interface SinkBench {
  readonly store: ConformanceStore;
  /** Of the case. */
  readonly folder: string;
  /** Makes a sink with the values of the store; it is stopped when the case ends. */
  create(): Sink;
  /** Makes and starts a sink; each is stopped when the case ends. */
  start(config?: Values, run?: string): Promise<Sink>;
}

export interface SinkCase {
  readonly name: string;
  run(bench: SinkBench): Promise<void>;
}

export const never: AbortSignal = new AbortController().signal;

/** Runs the cases, each with a store of its own; none when the setup has no store. */
export function onStore(
  definition: AnyPlugin,
  { openStore }: PluginSetup,
  cases: readonly SinkCase[],
): readonly ConformanceCase[] {
  if (openStore === undefined) return [];
  return cases.map(({ name, run }) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        const store = await openStore(room.folder);
        const made: Sink[] = [];
        const create = (config: Values = store.config, run?: string) => {
          const sink = asKind("sink", room.create(definition, config, run), ["start", "persist", "stop"]);
          made.push(sink);
          return givenFrozen(sink);
        };
        try {
          await run({
            store,
            folder: room.folder,
            create: () => create(),
            async start(config, run) {
              const sink = create(config, run);
              await sink.start();
              return sink;
            },
          });
        } finally {
          for (const sink of made) await called("stop", () => sink.stop(never));
          await store.close();
        }
      }),
  }));
}

/** What a sink opens at its first write is closed at its stop. */
export function leftOpenCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  return onStore(definition, setup, [oneWrite]).map(({ name, run }) => ({
    name,
    async run() {
      const before = activeResources();
      await run();
      await assertGone(before, "after stop of the sink and close of its store");
    },
  }));
}

const oneWrite: SinkCase = {
  name: "a sink that has written leaves no timer, socket or thread behind",
  async run({ start }) {
    const sink = await start();
    await sink.persist({ events: [marked("a1")] }, never);
  },
};

/** The same sink; all that it gets is frozen, in depth: a sink that changes it says so in its failure. */
function givenFrozen(sink: Sink): Sink {
  const { positions, tuning } = sink;
  const answers = sink.answers?.bind(sink);
  return {
    start: () => called("start", () => sink.start()),
    stop: (signal) => called("stop", () => sink.stop(signal)),
    ...(positions === undefined ? {} : { positions }),
    ...(tuning === undefined ? {} : { tuning }),
    ...(answers === undefined ? {} : { answers: (error, signal) => called("answers", () => answers(error, signal)) }),
    async persist(batch, signal) {
      const given = frozen({ ...batch, events: [...batch.events] });
      try {
        return await called("persist", () => sink.persist(given, signal));
      } catch (error) {
        if (!changesFrozen(error)) throw error;
        throw failure("the sink changes its batch; events, headers and bodies are shared: make a copy of each", error);
      }
    },
  };
}

const MANY = 1000;

/** How V8 says that something frozen was to be changed. */
function changesFrozen(error: unknown): boolean {
  const says = /read only property|not extensible|Cannot (delete|redefine) property/;
  return causesOf(error).some((one) => one instanceof Error && one.name === "TypeError" && says.test(one.message));
}

/** What a sink that stores does with what it is given. */
export const deliveryCases: readonly SinkCase[] = [
  {
    name: "every event of a batch is stored, for several entities and services, in the order of each entity",
    async run({ store, start }) {
      const sink = await start();
      const receipt = await sink.persist({ events: [marked("a3"), marked("b1", 2), marked("a1")] }, never);
      await sink.persist({ events: [marked("a2"), markedEvent("c1", { service: "conformance2" })] }, never);

      const stored = await store.readBack();

      assertStored(stored, ["a3", "a1", "a2", "b1", "c1"], "in any order");
      assertStored(
        stored.filter((mark) => mark.startsWith("a")),
        ["a3", "a1", "a2"],
      );
      assertReceipt(receipt);
    },
  },
  {
    name: "a batch of 1,000 events, or of the most that the sink asks for, is stored as a whole",
    async run({ store, start }) {
      const sink = await start();
      const most = Math.min(sink.tuning?.largestBatch ?? MANY, MANY);
      const marks = Array.from({ length: most }, (_, at) => `m${at}`);

      await sink.persist({ events: marks.map((mark) => marked(mark)) }, never);

      assertStored(await store.readBack(), marks);
    },
  },
  {
    name: "two events with the same content are both stored",
    async run({ store, start }) {
      const sink = await start();

      await sink.persist({ events: [marked("a1"), marked("a1")] }, never);
      await sink.persist({ events: [marked("a1")] }, never);

      const stored = await store.readBack();
      if (stored.length !== 3) throw failure(`of three events with the same content ${stored.length} are stored`);
    },
  },
  {
    name: "an empty batch is stored",
    async run({ store, start }) {
      const sink = await start();

      await sink.persist({ events: [] }, never);

      assertStored(await store.readBack(), []);
    },
  },
  {
    name: "a batch is left unchanged: its list, events, headers and bodies are frozen",
    async run({ store, start }) {
      const sink = await start();

      await sink.persist({ events: [marked("a1"), marked("a2"), marked("a3")] }, never);

      assertStored(await store.readBack(), ["a1", "a2", "a3"]);
    },
  },
  {
    name: "what is stored outlives the sink, and a second sink goes on",
    async run({ store, start }) {
      const first = await start();
      await first.persist({ events: [marked("a1")] }, never);
      await first.stop(never);
      const second = await start();
      await second.persist({ events: [marked("a2")] }, never);
      await second.stop(never);

      assertStored(await store.readBack(), ["a1", "a2"]);
    },
  },
  {
    name: "a write whose signal is aborted ends, and can be repeated",
    async run({ store, start }) {
      const sink = await start();
      const batch = { events: [marked("a1")] };

      try {
        await sink.persist(batch, AbortSignal.abort());
      } catch (error) {
        if (retryableOf(error) === false) throw failure("data that was not even tried is no bad data", error);
        await sink.persist(batch, never);
      }

      assertStored(await store.readBack(), ["a1"]);
    },
  },
  ...hostileValues.map(
    ({ says, text }): SinkCase => ({
      name: `${says} in a value comes back unchanged`,
      async run({ store, start }) {
        const sink = await start();

        await sink.persist({ events: [markedEvent(text)] }, never);

        assertStored(await store.readBack(), [text]);
      },
    }),
  ),
  ...hostileNames.flatMap(({ says, text }) =>
    (["id", "type", "attribute", "service"] as const).map(
      (member): SinkCase => ({
        name: `${says} in the ${member} of an entity is stored like any other`,
        async run({ store, start }) {
          const sink = await start();
          await sink.persist({ events: [marked("before")] }, never);

          await sink.persist({ events: [markedEvent("odd", { [member]: text })] }, never);

          assertStored(await store.readBack(), ["before", "odd"], "in any order");
        },
      }),
    ),
  ),
];

/** A sink in JavaScript may return anything. */
function assertReceipt(receipt: Partial<Receipt> | undefined): void {
  const counts = [receipt?.requestBytes, receipt?.responseBytes];
  if (counts.every((bytes) => Number.isSafeInteger(bytes) && Number(bytes) >= 0)) return;
  const wanted = "persist resolves to { requestBytes, responseBytes }, counts of bytes, 0 where they are not known";
  throw failure(`${wanted}; it resolved to ${inspect(receipt)}`);
}

/** An event of the first or another entity. */
export function marked(mark: string, entity = 1): Event {
  return markedEvent(mark, { id: `urn:ngsi-ld:Room:${entity}` });
}

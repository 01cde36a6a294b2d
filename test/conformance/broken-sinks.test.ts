import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError, type Batch, definePlugin, type Event, reasonOf, type Sink } from "../../core/sdk/index.js";
import { type ConformanceCase, markOf, pluginConformance } from "../../core/testing/index.js";

const receipt = { requestBytes: 0, responseBytes: 0 };

/** The cases of a sink in memory that does some things otherwise. */
async function casesOf(otherwise: (store: (events: readonly Event[]) => void) => Partial<Sink>, caseSeconds?: number) {
  const stored: string[] = [];
  const store = (events: readonly Event[]) => void stored.push(...events.map(markOf));
  const definition = definePlugin({
    apiVersion: 1,
    kind: "sink",
    type: "broken",
    summary: "Does something otherwise.",
    stability: "beta",
    config: {},
    create: (): Sink => ({
      start: async () => {},
      stop: async () => {},
      async persist({ events }: Batch) {
        store(events);
        return receipt;
      },
      ...otherwise(store),
    }),
  });
  const openStore = async () => {
    stored.length = 0;
    return { config: {}, keepsIds: true as const, readBack: async () => [...stored], close: async () => {} };
  };
  return await pluginConformance(definition, { openStore, ...(caseSeconds === undefined ? {} : { caseSeconds }) });
}

async function failureOf({ run }: ConformanceCase): Promise<string> {
  return await run().then(
    () => "",
    (error: unknown) => reasonOf(error),
  );
}

const storedCase = "every event of a batch is stored";

const broken = [
  {
    says: "throws undefined",
    otherwise: () => ({ persist: () => Promise.reject(undefined) }),
    named: storedCase,
    fault: "persist threw undefined; throw an AgentError, which says whether to try again",
  },
  {
    says: "throws a text",
    otherwise: () => ({ persist: () => Promise.reject("no idea") }),
    named: storedCase,
    fault: "persist threw 'no idea'; throw an AgentError, which says whether to try again",
  },
  {
    says: "stores nothing",
    otherwise: () => ({ persist: async () => receipt }),
    named: "what is stored outlives",
    fault: 'not stored, although the sink said so: "a1", "a2"',
  },
  {
    says: "stores everything twice",
    otherwise: (store) => ({
      async persist({ events }) {
        store(events);
        store(events);
        return receipt;
      },
    }),
    named: "a batch is left unchanged",
    fault: 'stored more than once: "a1", "a2", "a3"',
  },
  {
    says: "stores the last one first",
    otherwise: (store) => ({
      async persist({ events }) {
        store(events.toReversed());
        return receipt;
      },
    }),
    named: "a batch is left unchanged",
    fault: 'stored in another order than written: "a3", "a2", "a1" instead of "a1", "a2", "a3"',
  },
  {
    says: "returns no count of bytes",
    otherwise: (store) => ({
      async persist({ events }) {
        store(events);
        return { requestBytes: Number.NaN, responseBytes: 0 };
      },
    }),
    named: storedCase,
    fault:
      "persist resolves to { requestBytes, responseBytes }, counts of bytes, 0 where they are not known; " +
      "it resolved to { requestBytes: NaN, responseBytes: 0 }",
  },
  {
    says: "says of what is stored that it is not",
    otherwise: () => ({ positions: { stored: async () => [], alreadyStored: async () => [] } }),
    named: "a sink that tells which events of a batch it has",
    fault: "alreadyStored does not name what is stored, which is written again then: a1, a2",
  },
  {
    says: "says of everything that it is stored",
    otherwise: () => ({ positions: { alreadyStored: async ({ events }) => events } }),
    named: "a sink that tells which events of a batch it has",
    fault: "alreadyStored names what is not stored, and is lost then: a1, a2",
  },
  {
    says: "keeps no ids, although its setup says so,",
    otherwise: () => ({}),
    named: "what is written again under the same ids",
    fault: 'stored more than once: "a1", "a2"',
  },
] as const satisfies readonly {
  says: string;
  otherwise: (store: (events: readonly Event[]) => void) => Partial<Sink>;
  named: string;
  fault: string;
}[];

for (const { says, otherwise, named, fault } of broken)
  test(`of a sink that ${says} the case says it in a sentence`, async () => {
    const found = (await casesOf(otherwise)).find(({ name }) => name.startsWith(named));
    assert.ok(found !== undefined);

    assert.equal(await failureOf(found), fault);
  });

const shares = "the plugin shares its process with the agent and with other plugins, and changed";

for (const { says, change, back, fault } of [
  {
    says: "sets an environment variable",
    change: () => Reflect.set(process.env, "DENEB_BROKEN", "1"),
    back: () => Reflect.deleteProperty(process.env, "DENEB_BROKEN"),
    fault: new RegExp(`^${shares} environment variable DENEB_BROKEN$`),
  },
  {
    says: "adds a member to all lists",
    change: () => Object.defineProperty(Array.prototype, "broken", { value: 1, configurable: true }),
    back: () => Reflect.deleteProperty(Array.prototype, "broken"),
    fault: new RegExp(`^${shares} broken of Array.prototype$`),
  },
  {
    says: "listens to a signal",
    change: () => process.on("SIGHUP", assert.fail),
    back: () => process.off("SIGHUP", assert.fail),
    fault: new RegExp(`^${shares} listeners of process for SIGHUP$`),
  },
  {
    says: "writes to standard output",
    change: () => process.stdout.write(""),
    back: () => {},
    fault:
      /^standard output belongs to the agent .* was written to at .*broken-sinks\.test\.js:\d+:\d+\)?; use context\.log$/,
  },
])
  test(`a sink that ${says} while it writes fails the case`, async (context) => {
    context.after(back);
    const persist = (store: (events: readonly Event[]) => void) => async (batch: Batch) => {
      store(batch.events);
      change();
      return receipt;
    };
    const cases = await casesOf((store) => ({ persist: persist(store) }));
    const found = cases.find(({ name }) => name.startsWith(storedCase));
    assert.ok(found !== undefined);

    assert.match(await failureOf(found), fault);
  });

test("a sink that says its store works, whatever comes, fails a case about a store that is not available", async () => {
  const definition = definePlugin({
    apiVersion: 1,
    kind: "sink",
    type: "broken",
    summary: "Has no store.",
    stability: "beta",
    config: {},
    create: (): Sink => ({
      start: async () => {},
      stop: async () => {},
      persist: () => Promise.reject(new AgentError("AWAY", "writing", { retryable: true })),
      answers: async () => true,
    }),
  });
  const openStore = async () => ({ config: {}, unreachable: {}, readBack: async () => [], close: async () => {} });
  const cases = await pluginConformance(definition, { openStore });
  const found = cases.find(({ name }) => name.startsWith("of a store that is not available"));
  assert.ok(found !== undefined);

  assert.equal(await failureOf(found), "answers says true: then what comes in an outage becomes dead letters: writing");
});

test("a timer that a write starts and no stop clears fails a case", async (context) => {
  const timers: NodeJS.Timeout[] = [];
  context.after(() => timers.forEach(clearInterval));
  const cases = await casesOf((store) => ({
    async persist({ events }) {
      store(events);
      timers.push(setInterval(() => {}, 2 ** 30));
      return receipt;
    },
  }));
  const found = cases.find(({ name }) => name === "a sink that has written leaves no timer, socket or thread behind");
  assert.ok(found !== undefined);

  assert.match(await failureOf(found), /^after stop of the sink and close of its store there is still open: Timeout/);
});

test("a sink that keeps what it has stored fails a case that says how much it keeps", async () => {
  const kept: (readonly Event[])[] = [];
  const cases = await casesOf((store) => ({
    async persist({ events }) {
      store(events);
      kept.push(events);
      return receipt;
    },
  }));
  const found = cases.find(({ name }) => name === "events that are stored are not kept in memory");
  assert.ok(found !== undefined);

  assert.equal(
    await failureOf(found),
    "after 600 events were stored the sink still refers to 600 of them; keep ids or a position, and nothing that grows with the events",
  );
});

test("of a sink that never answers three cases wait, each names the call, and the others fail at once", async () => {
  const cases = await casesOf(() => ({ persist: () => new Promise(() => {}) }), 0.5);

  const failures: string[] = [];
  for (const one of cases) failures.push(await failureOf(one));

  const late = "the case did not end within 0.5 s; its call of persist has not settled";
  const failed = failures.filter((reason) => reason !== "");
  assert.deepEqual(failed.slice(0, 3), [late, late, late]);
  assert.deepEqual([...new Set(failed.slice(3))], ["not run: 3 cases did not end within 0.5 s"]);
});

test("what a sink does not say that it can do is no case that passes", async () => {
  const names = (cases: readonly ConformanceCase[]) => cases.map(({ name }) => name);
  const about = /^of two agents that keep the position|^a sink that tells which events/;

  const plain = names(await casesOf(() => ({})));
  const telling = names(
    await casesOf(() => ({ positions: { stored: async () => [], alreadyStored: async () => [] } })),
  );

  assert.equal(plain.filter((name) => about.test(name)).length, 0);
  assert.equal(telling.filter((name) => about.test(name)).length, 2);
});

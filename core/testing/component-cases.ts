import assert from "node:assert/strict";
import { apiRange } from "../sdk/api-versions.js";
import { flatEntries } from "../sdk/fields.js";
import {
  type AnyPlugin,
  API_VERSION,
  type Examined,
  type Examiner,
  type Lifecycle,
  type Probe,
  type Property,
} from "../sdk/index.js";
import { inRoom, type Room, valuesOf } from "./component-fixture.js";
import { activeResources, assertGone, assertNothingOpened } from "./left-open.js";
import { called } from "./plugin-calls.js";
import type { ConformanceCase, PluginSetup } from "./plugin-setup.js";
import { isOfFormat } from "./value-formats.js";

/** What the lifecycle law asks of every component that has `start` and `stop`. */
export function lifecycleCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  return lifecycles.map(({ name, walk }) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        const before = activeResources();
        await walk(() => created(definition, setup, room));
        await assertGone(before, "after stop");
      }),
  }));
}

type Tried = Partial<Lifecycle> & Examined;

interface Walk {
  readonly name: string;
  walk(create: () => Tried): Promise<void>;
}

const grace = (): AbortSignal => new AbortController().signal;

const lifecycles: readonly Walk[] = [
  {
    name: "creating opens nothing and starts no timer",
    async walk(create) {
      const before = activeResources();
      create();
      assertNothingOpened(before, "after create");
    },
  },
  {
    name: "stop without start is safe, twice",
    async walk(create) {
      const component = create();
      await component.stop?.(grace());
      await component.stop?.(grace());
    },
  },
  {
    name: "its probes are named, end with their signal and leave nothing open, without a start",
    async walk(create) {
      const component = create();
      await tried(component.probes?.(examiner) ?? []);
      await component.stop?.(grace());
    },
  },
  {
    name: "start and stop leave no timer, socket or thread behind",
    async walk(create) {
      const component = create();
      await component.start?.();
      await component.stop?.(grace());
    },
  },
  {
    name: "stop is safe twice, also when the grace period is over",
    async walk(create) {
      const component = create();
      await component.start?.();
      await component.stop?.(AbortSignal.abort());
      await component.stop?.(AbortSignal.abort());
    },
  },
  {
    name: "a second component starts where the first one stopped",
    async walk(create) {
      for (const component of [create(), create()]) {
        await component.start?.();
        await component.stop?.(grace());
      }
    },
  },
];

/** What an agent would make of them does not matter here. */
const examiner: Examiner = {
  folder: (folder) => ({ tries: `use the folder "${folder}"`, run: async () => ({ outcome: "ok" }) }),
  port: (port, host) => ({ tries: `listen on ${host}:${port}`, run: async () => ({ outcome: "ok" }) }),
  certificate: () => ({ outcome: "ok" }),
};

/** Probes whose signal has aborted: their results are not waited for. */
async function tried(probes: readonly Probe[]): Promise<void> {
  for (const { tries, run, next = [] } of probes) {
    assert.match(tries, /^\S.*\S$/s, "a probe says in words what it tries");
    await (async () => run(AbortSignal.abort()))().catch(() => undefined);
    await tried(next);
  }
}

function created(definition: AnyPlugin, setup: PluginSetup, room: Room): Tried {
  const component = room.create(definition, setup.config?.(room.folder) ?? {});
  assert.ok(isComponent(component), "create returns an object");
  const { start, stop, probes } = component;
  return {
    ...(start === undefined ? {} : { start: () => called("start", () => start.call(component)) }),
    ...(stop === undefined ? {} : { stop: (signal) => called("stop", () => stop.call(component, signal)) }),
    ...(probes === undefined ? {} : { probes: (its) => probes.call(component, its) }),
  };
}

function isComponent(component: unknown): component is Tried {
  if (typeof component !== "object" || component === null) return false;
  return ["start", "stop", "probes"].every((name) =>
    ["function", "undefined"].includes(typeof Reflect.get(component, name)),
  );
}

/** What every plugin declares: sentences for people, and defaults that its own formats and checks accept. */
export function declarationCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  const { kind, type, summary, config, apiVersion } = definition;
  const [oldest, newest] = apiRange(apiVersion) ?? [];
  return [
    {
      name: `${kind} ${type} says what it is in a sentence, and was made for this version of the contract`,
      async run() {
        assert.match(summary, SENTENCE, "the summary is one sentence with a full stop");
        assert.ok(
          oldest !== undefined && newest !== undefined && oldest <= API_VERSION && API_VERSION <= newest,
          `apiVersion ${JSON.stringify(apiVersion)} includes ${API_VERSION}`,
        );
      },
    },
    ...flatEntries(config).map(([name, property]) => ({
      name: `property ${name} is documented and its default is right`,
      run: async () => checkProperty(name, property),
    })),
    {
      name: "the plugin's own check accepts its defaults",
      async run() {
        const given = setup.config?.("folder") ?? {};
        assert.deepEqual(definition.check?.(valuesOf(definition, given)) ?? [], []);
      },
    },
  ];
}

const SENTENCE = /^\S.*\.$/s;

function checkProperty(name: string, { doc, format, default: value, min, max, env, sensitive }: Property): void {
  assert.match(doc, SENTENCE, `doc of "${name}" is a sentence with a full stop`);
  if (env !== undefined) assert.match(env, /^[A-Z][A-Z0-9_]*$/, `env of "${name}" is the name of a variable`);
  const secret = /passw|secret|token|credential/i.test(name);
  if (secret) assert.equal(sensitive, true, `"${name}" names a secret and must be sensitive`);
  if (value === undefined) return;
  assert.ok(isOfFormat(value, format), `default ${JSON.stringify(value)} of "${name}" is not of its format`);
  if (typeof value !== "number") return;
  assert.ok(value >= (min ?? value) && value <= (max ?? value), `default ${value} of "${name}" is out of its range`);
}

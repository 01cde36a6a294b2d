import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { AnyPlugin, Lifecycle } from "../sdk/index.js";
import { inRoom, type Room } from "./component-fixture.js";
import type { ConformanceCase } from "./conformance-case.js";
import type { PluginSetup } from "./plugin-setup.js";

/** What the lifecycle law asks of every component that has `start` and `stop`. */
export function lifecycleCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  return lifecycles.map(({ name, walk }) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        const before = activeResources();
        await walk(() => created(definition, setup, room));
        await assertGone(before);
      }),
  }));
}

interface Walk {
  readonly name: string;
  walk(create: () => Partial<Lifecycle>): Promise<void>;
}

const grace = (): AbortSignal => new AbortController().signal;

const lifecycles: readonly Walk[] = [
  {
    name: "creating opens nothing and starts no timer",
    async walk(create) {
      const before = activeResources();
      create();
      assert.deepEqual(further(before), []);
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

function created(definition: AnyPlugin, setup: PluginSetup, room: Room): Partial<Lifecycle> {
  const component = room.create(definition, setup.config?.(room.folder) ?? {});
  assert.ok(isComponent(component), "create returns an object");
  return component;
}

function isComponent(component: unknown): component is Partial<Lifecycle> {
  if (typeof component !== "object" || component === null) return false;
  return ["start", "stop"].every((name) => ["function", "undefined"].includes(typeof Reflect.get(component, name)));
}

type Counts = ReadonlyMap<string, number>;

function activeResources(): Counts {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function further(before: Counts): readonly string[] {
  return [...activeResources()]
    .filter(([name, count]) => lasting.test(name) && count > (before.get(name) ?? 0))
    .map(([name]) => name);
}

// What ends by itself, such as the reading of a file, is no leak.
const lasting = /^(Timeout|Immediate|.*(Server|Socket|Pipe|UDP|Worker|MessagePort|FSEvent|Process|Signal|Stat).*)$/;

const MOST_MILLIS = 3000;
const PAUSE_MILLIS = 5;

/** The system closes a handle a little later than it was told to. */
async function assertGone(before: Counts): Promise<void> {
  const end = performance.now() + MOST_MILLIS;
  while (further(before).length > 0 && performance.now() < end) await setTimeout(PAUSE_MILLIS);
  assert.deepEqual(further(before), [], "handles that were left open after stop");
}

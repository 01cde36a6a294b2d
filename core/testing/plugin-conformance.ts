import assert from "node:assert/strict";
import { type AnyPlugin, type Channel, codeOf, reasonOf, type Sink } from "../sdk/index.js";
import { judgesRepeats } from "../sdk/kept-connection.js";
import { channelConformance } from "./channel/conformance.js";
import type { ChannelLimits } from "./channel-fixture.js";
import { declarationCases, lifecycleCases } from "./component-cases.js";
import { asKind, inRoom, type Room } from "./component-fixture.js";
import { copyOfLive } from "./copied-folder.js";
import { failure } from "./expectations.js";
import { interruptCases, poisonCases, unreachableCases } from "./failure-cases.js";
import { flowCases } from "./flow-cases.js";
import { keptEventsCases } from "./kept-events.js";
import { adapterCases } from "./log/conformance.js";
import { unsettledCalls } from "./plugin-calls.js";
import type { ChannelSetup, ConformanceCase, ConformanceStore, PluginSetup, Values } from "./plugin-setup.js";
import { positionCases } from "./position-cases.js";
import { withSameProcess } from "./process-state.js";
import { randomFailureCases } from "./random-failures.js";
import { repeatedWriteCases, silentStoreCases } from "./silent-store-cases.js";
import { deliveryCases, leftOpenCases, onStore, type SinkCase } from "./sink-cases.js";
import { sourceCases } from "./source-cases.js";
import { alreadyStoredCases, keptIdsCases } from "./stored-cases.js";

/**
 * Everything that a plugin of this kind has to do, as far as the setup allows to see it. A case about something that
 * the store of the setup cannot do (`unreachable`, `interrupt`, `poisoned`) says so by failing to be there: list the
 * names to see what is tested.
 * @stable
 */
export async function pluginConformance(
  definition: AnyPlugin,
  setup: PluginSetup = {},
): Promise<readonly ConformanceCase[]> {
  const cases = [
    ...declarationCases(definition, setup),
    ...lifecycleCases(definition, setup),
    ...flowCases(definition, setup),
    ...channelCases(definition, setup),
    ...(definition.kind === "channel" ? await adapterCases(setup) : []),
    ...(await sourceCases(definition, setup)),
    ...onStore(definition, setup, [
      ...deliveryCases,
      ...keptEventsCases,
      ...(await ableCases(definition, setup)),
      ...randomFailureCases(setup.seed),
    ]),
    ...leftOpenCases(definition, setup),
  ];
  const limit = { seconds: setup.caseSeconds ?? usualSeconds, late: 0 };
  return cases.map((one) => inTime(one, limit));
}

const usualSeconds = 60;
/** A plugin that never answers would take the limit of each case. */
const MOST_LATE = 3;

/** A case that waits for a plugin which never answers fails at the limit, and after some of them all others fail at once. */
function inTime({ name, run }: ConformanceCase, limit: { readonly seconds: number; late: number }): ConformanceCase {
  const { seconds } = limit;
  return {
    name,
    run: () =>
      new Promise((resolve, reject) => {
        if (limit.late >= MOST_LATE) throw failure(`not run: ${MOST_LATE} cases did not end within ${seconds} s`);
        const calls: string[] = [];
        const timer = setTimeout(() => {
          limit.late += 1;
          const waitsFor = calls.length === 0 ? "a call of the plugin" : `its call of ${calls.at(-1)}`;
          reject(failure(`the case did not end within ${seconds} s; ${waitsFor} has not settled`));
        }, seconds * 1000);
        unsettledCalls
          .run(calls, () => withSameProcess(run))
          .finally(() => clearTimeout(timer))
          .then(resolve, reject);
      }),
  };
}

/** The name of the first case of a channel whose setup has limits. */
export const declaredDurable = "a channel that says it is durable is tested for it: its setup has channel.afterCrash";

function channelCases(definition: AnyPlugin, { limits, channel }: PluginSetup): readonly ConformanceCase[] {
  if (definition.kind !== "channel" || limits === undefined) return [];
  const promised = channel ?? {};
  const { afterCrash } = promised;
  const names = casesOf({ limits, ...promised }, () => {
    throw failure("only the names are wanted");
  }).map(({ name }) => name);
  const declared: ConformanceCase = {
    name: declaredDurable,
    run: () =>
      inRoom(async (room) => {
        const values = limits({ capacity: 10, transactionCapacity: 5, waitSeconds: 0 }, `${room.folder}/1`);
        const { durable } = created(definition, room, values);
        assert.equal(durable === true, afterCrash !== undefined, 'durable and "afterCrash" belong together');
      }),
  };
  const cases = names.map((name, index) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        const create = (values: Values) => created(definition, room, values);
        await casesOf({ limits, ...promised, folder: room.folder }, create)[index]?.run();
      }),
  }));
  return [declared, ...cases];
}

function created(definition: AnyPlugin, room: Room, values: Values): Channel {
  return asKind("channel", room.create(definition, values), ["start", "stop", "openPut", "openTake"]);
}

interface ChannelSetting extends ChannelSetup {
  readonly limits: NonNullable<PluginSetup["limits"]>;
  /** Of one case. */
  readonly folder?: string;
}

/** The cases over channels that are created with the values of the setup, each in a folder of its own. */
function casesOf(setting: ChannelSetting, create: (values: Values) => Channel): readonly ConformanceCase[] {
  const { limits, afterCrash, twoAgents, folder = "" } = setting;
  const places = new Map<Channel, { readonly wanted: ChannelLimits; readonly at: string }>();
  const started = async (wanted: ChannelLimits, at: string) => {
    const channel = create(limits(wanted, at));
    places.set(channel, { wanted, at });
    await channel.start();
    return channel;
  };
  const again = async (channel: Channel, move: (at: string) => Promise<string>) => {
    const place = places.get(channel);
    if (place === undefined) throw failure("the channel was not opened by this case");
    return await started(place.wanted, await move(place.at));
  };
  const same = async (at: string) => at;
  const copied = async (at: string) => {
    const to = `${folder}/${places.size + 1}`;
    await copyOfLive(at, to);
    return to;
  };
  let isHeld = false;
  const crashed = async (channel: Channel) => {
    isHeld = setting.abandon === undefined;
    await setting.abandon?.(channel);
    return await again(channel, same);
  };
  const cases = channelConformance((wanted) => started(wanted, `${folder}/${places.size + 1}`), {
    ...(afterCrash === undefined ? {} : { restart: (channel) => again(channel, same) }),
    ...(afterCrash === "copied" ? { reopen: (channel) => again(channel, copied) } : {}),
    ...(afterCrash === "same" ? { reopen: crashed } : {}),
    second: (channel) => again(channel, same),
    twoAgents,
  });
  return cases.map(({ name, run }) => ({ name, run: () => run().catch((error: unknown) => throwOf(error, isHeld)) }));
}

/** Throws the error, with what may have caused it when the channel from before the crash has kept its connections. */
function throwOf(error: unknown, isHeld: boolean): never {
  if (!isHeld || !["NOT_CONFORMING", "ERR_ASSERTION"].includes(codeOf(error) ?? "")) throw error;
  throw failure(
    `${reasonOf(error)}; the setup has no channel.abandon, so the previous channel holds what it took`,
    error,
  );
}

/** The cases about what not every sink and not every store can do. */
async function ableCases(definition: AnyPlugin, setup: PluginSetup): Promise<readonly SinkCase[]> {
  const { store, sink } = await abilities(definition, setup);
  const positions = sink?.positions;
  return [
    ...(positions?.stored === undefined ? [] : positionCases),
    ...(positions?.alreadyStored === undefined ? [] : alreadyStoredCases),
    ...(store?.poisoned === undefined ? [] : poisonCases),
    ...(store?.unreachable === undefined ? [] : unreachableCases),
    ...(store?.interrupt === undefined ? [] : interruptCases),
    ...(store?.tcp === undefined ? [] : silentStoreCases),
    ...(store?.tcp === undefined || sink === undefined || !(judgesRepeats in sink) ? [] : repeatedWriteCases),
    ...(store?.keepsIds === true ? keptIdsCases : []),
  ];
}

interface Abilities {
  readonly store?: ConformanceStore;
  readonly sink?: Sink | undefined;
}

/** What a store of the setup and its sink can do; one is opened to see it, and a sink is created. */
async function abilities(definition: AnyPlugin, { openStore }: PluginSetup): Promise<Abilities> {
  let able: Abilities = {};
  if (openStore === undefined) return able;
  await inRoom(async (room) => {
    const store = await openStore(room.folder);
    able = { store, sink: sinkOf(() => room.create(definition, store.config)) };
    await store.close();
  });
  return able;
}

/** None of a sink that cannot be created: other cases say so. */
function sinkOf(create: () => unknown): Sink | undefined {
  try {
    const sink = asKind("sink", create(), ["start", "persist", "stop"]);
    // A getter of it may throw.
    void sink.positions;
    return sink;
  } catch {
    return undefined;
  }
}

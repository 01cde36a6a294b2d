import type { AnyPlugin } from "../sdk/index.js";
import { channelConformance } from "./channel/conformance.js";
import { declarationCases, lifecycleCases } from "./component-cases.js";
import { asKind, inRoom } from "./component-fixture.js";
import { failure } from "./expectations.js";
import { flowCases, interruptCases, poisonCases, unreachableCases } from "./failure-cases.js";
import type { ConformanceCase, ConformanceStore, PluginSetup } from "./plugin-setup.js";
import { deliveryCases, onStore, type SinkCase } from "./sink-cases.js";
import { sourceCases } from "./source-cases.js";

/**
 * Everything that a plugin of this kind has to do, as far as the setup allows to see it. A case about something that
 * the store of the setup cannot do (`unreachable`, `interrupt`, `poisoned`) says so by failing to be there: list the
 * names to see what is tested.
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
    ...sourceCases(definition, setup),
    ...onStore(definition, setup, [...deliveryCases, ...(await failureCases(setup))]),
  ];
  return cases.map((one) => inTime(one, setup.caseSeconds ?? usualSeconds));
}

const usualSeconds = 60;

/** A case that waits for a plugin which never answers fails at the limit, and the others run. */
function inTime({ name, run }: ConformanceCase, seconds: number): ConformanceCase {
  return {
    name,
    run: () =>
      new Promise((resolve, reject) => {
        const late = failure(`the case did not end within ${seconds} s; a call of the plugin never settles`);
        const timer = setTimeout(() => reject(late), seconds * 1000);
        run()
          .finally(() => clearTimeout(timer))
          .then(resolve, reject);
      }),
  };
}

function channelCases(definition: AnyPlugin, { limits }: PluginSetup): readonly ConformanceCase[] {
  if (definition.kind !== "channel" || limits === undefined) return [];
  const names = channelConformance(() => Promise.reject(new Error("only the names are wanted")));
  return names.map(({ name }, index) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        let opened = 0;
        const cases = channelConformance(async (wanted) => {
          opened += 1;
          const values = limits(wanted, `${room.folder}/${opened}`);
          const channel = asKind("channel", room.create(definition, values), ["start", "stop", "openPut", "openTake"]);
          await channel.start();
          return channel;
        });
        await cases[index]?.run();
      }),
  }));
}

async function failureCases(setup: PluginSetup): Promise<readonly SinkCase[]> {
  const able = await abilities(setup);
  return [
    ...(able?.poisoned === undefined ? [] : poisonCases),
    ...(able?.unreachable === undefined ? [] : unreachableCases),
    ...(able?.interrupt === undefined ? [] : interruptCases),
  ];
}

/** What a store of the setup can do; one is opened to see it. */
async function abilities({ openStore }: PluginSetup): Promise<ConformanceStore | undefined> {
  let store: ConformanceStore | undefined;
  if (openStore === undefined) return undefined;
  await inRoom(async ({ folder }) => {
    store = await openStore(folder);
    await store.close();
  });
  return store;
}

import type { MeasureOptions } from "./measure.js";
import { reaches } from "./rows.js";
import { withAgents } from "./scale-agents.js";
import type { ScaleCase, ScaleFigure } from "./scale-case.js";

/** Ends one of two agents with SIGKILL and posts each entity to the other one, until the rows of all of them are there. */
export async function measureTakeover(scale: ScaleCase, _options: MeasureOptions): Promise<readonly ScaleFigure[]> {
  return await withAgents(scale, { roles: ["both", "both"] }, async ({ agents, store, postAll, settled }) => {
    const [first, second] = agents;
    let posted = 0;
    const post = async () => {
      await postAll(first);
      posted += scale.bench.bodies.entities;
    };
    const stores = async () => (await second?.ledger())?.stored ?? 0;
    await reaches("events stored by the second agent", stores, async () => {
      await post();
      return 1;
    });
    await settled();
    second?.server.child.kill("SIGKILL");
    const killed = performance.now();
    await post();
    await reaches("rows", store.countRows, () => posted);
    const seconds = (performance.now() - killed) / 1000;
    return [{ what: "until all partitions are stored again", value: seconds, unit: "s" }];
  });
}

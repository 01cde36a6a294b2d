import type { MeasureOptions } from "./measure.js";
import { withAgents } from "./scale-agents.js";
import type { ScaleCase, ScaleFigure } from "./scale-case.js";
import { memoryOf } from "./server-process.js";

const FEW = 8;
const MANY = 1000;
const ROUNDS = 3;
const KIBIBYTE = 1024;

/** Memory of an agent with few and with many partitions, after a garbage collection. */
export async function measurePartitions(scale: ScaleCase, _options: MeasureOptions): Promise<readonly ScaleFigure[]> {
  const bodies = { ...scale.bench.bodies, entities: MANY };
  const wide = {
    ...scale,
    bench: { ...scale.bench, bodies, sink: { ...scale.bench.sink, data_model: "dm-by-entity-type" } },
  };
  const memoryWith = async (partitions: number) =>
    await withAgents(wide, { roles: ["both"], partitions, probed: true }, async ({ agents, postAll, settled }) => {
      const [agent] = agents;
      if (agent === undefined) throw new Error("there is no agent");
      for (let round = 0; round < ROUNDS; round += 1) await postAll(agent);
      await settled();
      return await memoryOf(agent.server);
    });
  const few = await memoryWith(FEW);
  const many = await memoryWith(MANY);
  const each = (of: "heap" | "rss") => (many[of] - few[of]) / (MANY - FEW) / KIBIBYTE;
  return [
    { what: "resident, 8 partitions", value: few.rss / KIBIBYTE ** 2, unit: "MiB" },
    { what: "resident, 1,000 partitions", value: many.rss / KIBIBYTE ** 2, unit: "MiB" },
    { what: "resident for each partition", value: each("rss"), unit: "KiB" },
    { what: "heap for each partition", value: each("heap"), unit: "KiB" },
  ];
}

import type { ComponentNode } from "../configuration/topology.js";
import { silentLoggers } from "../logging/loggers.js";
import { type Erasure, reasonOf, type StoredData } from "../sdk/index.js";
import type { EraseCall } from "./erase.js";

/** What was erased in the store of a sink. */
export interface StorePart extends Erasure {
  readonly sink: string;
}

/** Erases in the stores of all sinks, one after another. A store that fails is reported, and the others are erased. */
export async function eraseInStores(call: EraseCall): Promise<readonly StorePart[]> {
  const parts: StorePart[] = [];
  for (const node of call.topology.sinks) parts.push({ sink: node.name, ...(await erasedIn(node, call)) });
  return parts;
}

const nothing: Erasure = { erased: [], left: [], untouched: [], notes: [] };

async function erasedIn(
  node: ComponentNode,
  { selection, dryRun, topology, settings, terminal }: EraseCall,
): Promise<Erasure> {
  const { name, definition, config } = node;
  const { agent } = topology;
  const { dataDir } = settings;
  const context = { name, agent, log: silentLoggers.of(name), dataDir, run: "", now: () => new Date() };
  let data: StoredData | undefined;
  try {
    data = await definition.data?.(config, context);
    if (data?.erase !== undefined) return await data.erase(selection, dryRun, terminal.stopRequested);
    const reason = "this command cannot reach what a sink of this type has passed on";
    return { ...nothing, untouched: [{ name: definition.type, reason }] };
  } catch (error) {
    return { ...nothing, left: [{ name: "its store", reason: reasonOf(error) }] };
  } finally {
    await data?.close();
  }
}

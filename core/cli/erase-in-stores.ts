import type { ComponentNode } from "../configuration/topology.js";
import { silentLoggers } from "../logging/loggers.js";
import { type Erasure, reasonOf, type StoredData } from "../sdk/index.js";
import type { EraseCall } from "./erase-call.js";

/** What was erased in the store of a sink. */
interface StorePart extends Erasure {
  readonly sink: string;
}

/** What became of the selection in all stores. */
export interface StoresErasure {
  readonly stores: readonly StorePart[];
  /** Tables of the selection that no sink of the file has listed. */
  readonly unknown: readonly string[];
}

/** Erases in the stores of all sinks, one after another. A store that fails is reported, and the others are erased. */
export async function eraseInStores(call: EraseCall): Promise<StoresErasure> {
  const stores: StorePart[] = [];
  const unknown = new Set(call.selection.tables);
  for (const node of call.topology.sinks) {
    const erasure = await erasedIn(node, call);
    const { isReached, ...part } = erasure;
    const missing = new Set(part.untouched.map(({ name }) => name));
    for (const name of unknown) if (isReached && !missing.has(name)) unknown.delete(name);
    stores.push({ sink: node.name, ...part });
  }
  return { stores, unknown: [...unknown] };
}

const nothing: Erasure = { erased: [], left: [], untouched: [], notes: [] };

async function erasedIn(
  node: ComponentNode,
  { selection, dryRun, topology, settings, terminal }: EraseCall,
): Promise<Erasure & { readonly isReached: boolean }> {
  const { name, definition, config } = node;
  const { agent } = topology;
  const { dataDir } = settings;
  const context = { name, agent, log: silentLoggers.of(name), dataDir, run: "", now: () => new Date() };
  let data: StoredData | undefined;
  try {
    data = await definition.data?.(config, context);
    if (data?.erase !== undefined) {
      const erasure = await data.erase(selection, dryRun, terminal.stopRequested);
      return { ...erasure, isReached: true };
    }
    const reason = "this command cannot reach what a sink of this type has passed on";
    return { ...nothing, untouched: [{ name: definition.type, reason }], isReached: false };
  } catch (error) {
    return { ...nothing, left: [{ name: "its store", reason: reasonOf(error) }], isReached: false };
  } finally {
    await data?.close();
  }
}

import type { ComponentNode } from "../configuration/topology.js";
import { fullTables, OPEN_FILES_REMEDY } from "../files/open-files.js";
import { thrownCause } from "../sdk/causes.js";
import { AgentError, codeOf, type Lifecycle, reasonOf, retryableOf } from "../sdk/index.js";
import type { Running } from "./component.js";

interface Startable extends Running {
  readonly node: ComponentNode;
}

/** Starts a component and keeps its status. */
export async function startComponent(running: Startable, lifecycle: Lifecycle): Promise<void> {
  try {
    await lifecycle.start();
    running.status = "START";
  } catch (error) {
    running.status = "ERROR";
    throw named(error, running);
  }
}

/** Messages of strangers need not name their component. The code stays, because callers decide by it. */
export function named(error: unknown, { name, node }: Pick<Startable, "name" | "node">): unknown {
  const { kind, type } = node.definition;
  if (reasonOf(error).includes(`"${name}"`)) return error;
  const code = codeOf(error) ?? "COMPONENT_NOT_STARTED";
  const remedy = fullTables.includes(code) ? ` (${OPEN_FILES_REMEDY})` : "";
  return new AgentError(code, `starting ${kind} "${name}" of type "${type}"${remedy}`, {
    cause: thrownCause(error),
    retryable: retryableOf(error) ?? false,
  });
}

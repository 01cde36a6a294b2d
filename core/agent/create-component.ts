import type { ComponentNode } from "../configuration/topology.js";
import { thrownCause } from "../sdk/causes.js";
import { isPromise } from "../sdk/event-fault.js";
import { AgentError, type Context, type Kind, type Kinds } from "../sdk/index.js";
import { tuningFault } from "../sdk/tuning-fault.js";

/** The methods each kind must have; what a plugin's `create` returned is checked against them once, here. */
const methods: { readonly [K in Kind]: readonly (keyof Kinds[K] & string)[] } = {
  source: ["start", "stop"],
  handler: ["decode"],
  interceptor: ["intercept"],
  channel: ["start", "stop", "openPut", "openTake"],
  selector: ["select"],
  sink: ["start", "stop", "persist"],
  "sink-processor": ["order", "succeeded", "failed"],
};

/** Calls the plugin's `create`. Throws when it throws or returns something that is not of its kind. */
export function createComponent<K extends Kind, C extends Context>(kind: K, node: ComponentNode, context: C): Kinds[K] {
  const { definition } = node;
  let component: unknown;
  try {
    component = definition.create(node.config, context);
  } catch (cause) {
    throw new AgentError("COMPONENT_NOT_CREATED", `creating ${kind} "${node.name}" of type "${definition.type}"`, {
      cause: thrownCause(cause),
      retryable: false,
    });
  }
  const creating = `creating ${kind} "${node.name}" of type "${definition.type}"`;
  if (isPromise(component)) {
    // What becomes of it is nobody's news any more.
    component.then(undefined, () => undefined);
    const message = `${creating} returned a promise; create must return the component at once, put I/O into start`;
    throw new AgentError("COMPONENT_NOT_CREATED", message, { retryable: false });
  }
  if (definition.kind === kind && isOfKind(kind, component)) {
    const fault = kind === "sink" ? tuningFault(component) : undefined;
    if (fault === undefined) return component;
    throw new AgentError("COMPONENT_NOT_CREATED", `${creating}: ${fault}`, { retryable: false });
  }
  const wanted = `an object with ${methods[kind].join(", ")}`;
  const reason = `the plugin for ${definition.kind} "${definition.type}" did not return ${wanted}`;
  throw new AgentError("COMPONENT_NOT_CREATED", `creating ${kind} "${node.name}": ${reason}`, { retryable: false });
}

function isOfKind<K extends Kind>(kind: K, component: unknown): component is Kinds[K] {
  if (typeof component !== "object" || component === null) return false;
  const members = new Map(methods[kind].map((name) => [name, Reflect.get(component, name)]));
  return [...members.values()].every((member) => typeof member === "function");
}

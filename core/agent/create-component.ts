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
  const creating = `creating ${kind} "${node.name}" of type "${definition.type}"`;
  let fault: string;
  const inherited = inheritedNames();
  try {
    const component: unknown = definition.create(node.config, context);
    // Looked at here, too: its members may be getters that throw.
    const found = additionFault(inherited) ?? componentFault(kind, component);
    if (found === undefined && definition.kind === kind && isOfKind(kind, component)) return component;
    fault = found ?? `the plugin is for a ${definition.kind}`;
  } catch (cause) {
    additionFault(inherited);
    throw new AgentError("COMPONENT_NOT_CREATED", creating, { cause: thrownCause(cause), retryable: false });
  }
  throw new AgentError("COMPONENT_NOT_CREATED", `${creating}: ${fault}`, { retryable: false });
}

/** What every object and array shows as a member that is not its own. */
function inheritedNames(): readonly string[] {
  const names: string[] = [];
  for (const name in []) names.push(name);
  return names;
}

/** Takes away again what every object would show, in notifications, too, and says what it was. */
function additionFault(before: readonly string[]): string | undefined {
  const added = inheritedNames().filter((name) => !before.includes(name));
  if (added.length === 0) return undefined;
  for (const name of added) for (const { prototype } of [Object, Array]) Reflect.deleteProperty(prototype, name);
  const names = added.map((name) => `"${name}"`).join(", ");
  return `create added ${names} to Object.prototype or Array.prototype, which all objects would have; keep it out of there`;
}

function componentFault(kind: Kind, component: unknown): string | undefined {
  if (isPromise(component)) {
    // What becomes of it is nobody's news any more.
    component.then(undefined, () => undefined);
    return "create returned a promise; it must return the component at once, put I/O into start";
  }
  if (!isOfKind(kind, component)) {
    const needed = `it must return an object with the methods ${methods[kind].join(", ")}`;
    return `create returned ${lackIn(kind, component)}; ${needed}`;
  }
  return kind === "sink" ? tuningFault(component) : undefined;
}

function lackIn(kind: Kind, component: unknown): string {
  if (typeof component !== "object" || component === null) return component === null ? "null" : typeof component;
  const missing = methods[kind].filter((name) => typeof Reflect.get(component, name) !== "function");
  return `an object without ${missing.join(", ")}`;
}

function isOfKind<K extends Kind>(kind: K, component: unknown): component is Kinds[K] {
  if (typeof component !== "object" || component === null) return false;
  return methods[kind].every((name) => typeof Reflect.get(component, name) === "function");
}

import type { Fault } from "./fault.js";
import { errorAt } from "./fault-at.js";
import { collide, type Listener, listenersOf } from "./listeners.js";
import type { Resource } from "./resources.js";

/** A fault for each port that another component, or the management interface, listens on too. */
export function portFaults(resources: readonly Resource[], management: Listener | undefined): readonly Fault[] {
  const listeners = listenersOf(resources);
  return listeners.flatMap((listener, at) => {
    const { place } = listener.resource;
    const other = listeners.slice(0, at).find((one) => collide(one, listener));
    if (other !== undefined) {
      return [errorAt(place, `is the port of "${other.resource.owner}" too; give each a port of its own`)];
    }
    if (management === undefined || management.port === 0 || !collide(management, listener)) return [];
    const remedy = "choose another, here or with --management-port";
    return [errorAt(place, `is the port of the management interface too; ${remedy}`)];
  });
}

import { apiRange } from "../sdk/api-versions.js";
import type { DeclarationFault } from "./declaration-faults.js";

/** How many versions of the contract before its own an agent serves. */
const SERVED_BEFORE = 1;

/**
 * What is to be said about the version of the contract that a plugin was made for, behind `declares the plugin ...`;
 * undefined when it is the agent's own. Harmless when the agent serves it.
 */
export function versionFault(declared: unknown, own: number): DeclarationFault | undefined {
  const range = apiRange(declared);
  if (range === undefined) return undefined;
  const [oldest, newest] = range;
  if (oldest <= own && own <= newest) return undefined;
  const made = `made for ${oldest === newest ? "version" : `versions ${oldest} to`} ${newest} of deneb/sdk`;
  if (oldest > own) {
    const remedy = `update Deneb, or install a version of the plugin that was made for version ${own}`;
    return { fault: `${made}; it needs a newer Deneb: this agent has version ${own}`, remedy };
  }
  if (newest < own - SERVED_BEFORE) {
    const remedy = "install a newer version of the plugin, or an older Deneb";
    return { fault: `${made}, which is no longer served: this agent has version ${own}`, remedy };
  }
  return {
    fault: `${made}, an older one that is still served: this agent has version ${own}`,
    remedy: "install a newer version of the plugin before the next major version of Deneb",
    harmless: true,
  };
}

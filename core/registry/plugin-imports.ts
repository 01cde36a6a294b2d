import * as nodeModule from "node:module";
import { resolve } from "./resolve-hook.js";

let offered = false;

/**
 * From now on every module of this process that imports `deneb/...` gets the copy of this agent, wherever the module
 * lies and whether or not deneb is installed there. Safe to call again.
 */
export function offerContract(): void {
  if (offered) return;
  offered = true;
  // Node 20 has only `register`, which newer versions deprecate.
  const registerHooks: unknown = Reflect.get(nodeModule, "registerHooks");
  if (typeof registerHooks === "function") Reflect.apply(registerHooks, nodeModule, [{ resolve }]);
  else nodeModule.register(new URL("./resolve-hook.js", import.meta.url));
}

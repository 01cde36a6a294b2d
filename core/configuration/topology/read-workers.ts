import { type Environment, errorAt, type Reading } from "../configuration-fault.js";
import type { Setting } from "../file/settings.js";
import { fromSetting } from "../schema/given-values.js";
import { kernelProperties } from "../schema/kernel-properties.js";
import { typedValues } from "../schema/typed-values.js";

/** Reads how many workers the file wants; no value where it does not say. */
export function readWorkers(setting: Setting | undefined, { env }: Environment): Reading<number> {
  const { workers } = kernelProperties;
  const { state, faults } = fromSetting(workers, setting, env);
  if (typeof state === "string") return { value: undefined, faults };
  const { values, reasons } = typedValues({ workers }, new Map([["workers", state.content]]));
  const reason = reasons.get("workers");
  const value = values.get("workers");
  return {
    value: typeof value === "number" ? value : undefined,
    faults: [...faults, ...(reason === undefined ? [] : [errorAt(state.location, reason)])],
  };
}

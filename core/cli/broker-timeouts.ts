import type { KernelSettings } from "../configuration/schema/kernel-settings.js";

/** Milliseconds that a broker has for a call that reads or deletes, and for one that creates. */
export function brokerTimeouts(settings: Pick<KernelSettings, "brokerTimeout" | "brokerCreateTimeout">) {
  const { brokerTimeout, brokerCreateTimeout } = settings;
  return {
    timeoutMillis: brokerTimeout * 1000,
    createTimeoutMillis: Math.max(brokerCreateTimeout, brokerTimeout) * 1000,
  };
}

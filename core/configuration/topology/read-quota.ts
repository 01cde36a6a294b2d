import type { ConfigOf } from "../../sdk/index.js";
import type { Quota, SourceQuota } from "../../tokens.js";
import { type ConfigurationFault, errorAt } from "../configuration-fault.js";
import type { ComponentBlock } from "../file/settings.js";
import type { quotaSettings } from "../schema/component-properties.js";

/** Seconds of the usual burst. */
const USUAL_BURST = 10;

type QuotaConfig = ConfigOf<typeof quotaSettings>;

/** The quotas of a source; undefined when no service has one. */
export function readQuota(
  config: QuotaConfig | undefined,
  block: ComponentBlock,
): { readonly value: SourceQuota | undefined; readonly faults: readonly ConfigurationFault[] } {
  if (config === undefined) return { value: undefined, faults: [] };
  const faults: ConfigurationFault[] = [];
  const services: Record<string, Quota | undefined> = Object.create(null);
  for (const [name, text] of Object.entries(config["quota.services"])) {
    const service = name.toLowerCase();
    const match = ENTRY.exec(text);
    if (match === null) faults.push(errorAt(locationOf(name, text, block), MALFORMED));
    else if (service in services)
      faults.push(errorAt(locationOf(name, text, block), `names the service "${service}" a second time`));
    const [, rate, burst] = match ?? [];
    services[service] = quotaOf(Number(rate), burst === undefined ? -1 : Number(burst));
  }
  const usual = quotaOf(config["quota.events_per_second"], config["quota.burst"]);
  if (usual === undefined && Object.keys(services).length === 0) return { value: undefined, faults };
  return { value: { usual, services: { ...services }, mostServices: config["quota.most_services"] }, faults };
}

/** Events per second, and maybe a burst. */
const ENTRY = /^\s*(-1|\d{1,9})(?:\s+([1-9]\d{0,8}))?\s*$/;
const MALFORMED = "must be events per second, and maybe a burst of 1 or more behind it, such as 100 500";

function locationOf(service: string, value: string, block: ComponentBlock) {
  const setting = block.settings.get(`quota.services.${service}`);
  return { key: setting?.key ?? `${block.key}.quota.services.${service}`, value, line: setting?.line ?? block.line };
}

function quotaOf(eventsPerSecond: number, burst: number): Quota | undefined {
  if (eventsPerSecond === -1) return undefined;
  return { eventsPerSecond, burst: burst === -1 ? Math.max(1, eventsPerSecond * USUAL_BURST) : burst };
}

import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const defaultSchema = {} as const satisfies Schema;

export const failoverSchema = {
  priority: {
    doc: "`priority.<sink> = <whole number>`: the usable sink with the highest number gets every batch. Sinks without one come after all others, in the order of the group.",
    format: "map",
    default: {},
  },
  maxpenalty: {
    doc: "Longest time in milliseconds that a failed sink is passed over. The first failure costs 2 s, each further one in a row twice as much.",
    format: "millis",
    default: 30_000,
  },
} as const satisfies Schema;

export const loadBalanceSchema = {
  selector: {
    doc: "Which sink gets the next batch: the next one of the list, or any.",
    format: ["round_robin", "random"],
    default: "round_robin",
  },
  backoff: {
    doc: "true passes over a sink that failed: 2 s after the first failure, twice as long after each further one in a row.",
    format: "flag",
    default: false,
  },
  "selector.maxTimeOut": {
    doc: "Longest time in milliseconds that a failed sink is passed over.",
    format: "millis",
    default: 30_000,
  },
} as const satisfies Schema;

export type FailoverConfig = ConfigOf<typeof failoverSchema>;
export type LoadBalanceConfig = ConfigOf<typeof loadBalanceSchema>;

export function checkDefault(
  _: ConfigOf<typeof defaultSchema>,
  sinks?: readonly string[],
): readonly PropertyFault<typeof defaultSchema>[] {
  if (sinks === undefined || sinks.length < 2) return [];
  return [{ property: "type", reason: `is for one sink, not ${sinks.length}; give failover or load_balance` }];
}

export function checkFailover(
  { priority }: FailoverConfig,
  sinks?: readonly string[],
): readonly PropertyFault<typeof failoverSchema>[] {
  const entries = Object.entries(priority);
  return entries.flatMap(([sink, number], index) => {
    const property = `priority.${sink}` as const;
    if (sinks !== undefined && !sinks.includes(sink)) {
      return [{ property, reason: `"${sink}" is not a sink of the group; its sinks are: ${sinks.join(", ")}` }];
    }
    if (!isWhole(number)) return [{ property, reason: `"${number}" must be a whole number` }];
    const equal = entries.slice(0, index).find(([, other]) => Number(other) === Number(number));
    return equal === undefined ? [] : [{ property, reason: `is the priority of "${equal[0]}", too; give another one` }];
  });
}

export function checkLoadBalance(
  _: LoadBalanceConfig,
  sinks?: readonly string[],
): readonly PropertyFault<typeof loadBalanceSchema>[] {
  if (sinks === undefined || sinks.length > 1) return [];
  return [{ property: "type", reason: "needs two sinks or more; leave out the group, or add a sink" }];
}

function isWhole(text: string): boolean {
  return /^-?\d{1,9}$/.test(text.trim());
}

import type { AnyPlugin, Kind } from "../sdk/index.js";
import { interruptCases, poisonCases, unreachableCases } from "./failure-cases.js";
import { acceptedCase } from "./flow-cases.js";
import { recordCases } from "./log/record-cases.js";
import { declaredDurable } from "./plugin-conformance.js";
import type { ConformanceCase } from "./plugin-setup.js";
import { silentStoreCases } from "./silent-store-cases.js";
import { deliveryCases } from "./sink-cases.js";
import { inletCases, lostConnectionCases } from "./source-cases.js";

/** What of a plugin none of its cases looks at, because its setup does not say how; a sentence each. */
export function notTested(definition: AnyPlugin, cases: readonly ConformanceCase[]): readonly string[] {
  const names = new Set(cases.map(({ name }) => name));
  const missing = parts.filter((part) => isOf(part, definition) && !names.has(part.case));
  const whole = missing.find(({ isWhole }) => isWhole === true);
  return (whole === undefined ? missing : [whole]).map(({ what, member }) => `${what}: its setup has no ${member}`);
}

function isOf({ kind, isShared, connects }: Part, definition: AnyPlugin): boolean {
  if (kind !== definition.kind) return false;
  return (isShared === undefined || definition.feeders === "others") && (connects === undefined || hasUrl(definition));
}

function hasUrl({ config }: AnyPlugin): boolean {
  return Object.values(config).some(({ resource }) => resource === "url");
}

interface Part {
  readonly kind: Kind;
  /** Of a channel that agents share. */
  readonly isShared?: true;
  /** Of a source that connects to an address. */
  readonly connects?: true;
  readonly what: string;
  /** Of the setup. */
  readonly member: string;
  /** The name of a case that is there when the part is tested. */
  readonly case: string;
  /** Without it nothing else of the kind is tested. */
  readonly isWhole?: true;
}

const parts: readonly Part[] = [
  { kind: "channel", what: "what a channel does", member: "limits", case: declaredDurable, isWhole: true },
  {
    kind: "channel",
    isShared: true,
    what: "the adapter of a log over deneb/log",
    member: "openLogs",
    case: nameOf(recordCases),
  },
  { kind: "source", what: "what a source emits", member: "openInlet", case: nameOf(inletCases), isWhole: true },
  {
    kind: "source",
    connects: true,
    what: "a lost connection",
    member: "inlet with tcp",
    case: nameOf(lostConnectionCases),
  },
  { kind: "handler", what: "what a handler makes of a request", member: "accepted", case: acceptedCase },
  { kind: "sink", what: "what a sink stores", member: "openStore", case: nameOf(deliveryCases), isWhole: true },
  { kind: "sink", what: "data that the store refuses", member: "store with poisoned", case: nameOf(poisonCases) },
  {
    kind: "sink",
    what: "a store that cannot be reached",
    member: "store with unreachable",
    case: nameOf(unreachableCases),
  },
  { kind: "sink", what: "a lost connection", member: "store with interrupt", case: nameOf(interruptCases) },
  { kind: "sink", what: "a store that does not answer", member: "store with tcp", case: nameOf(silentStoreCases) },
];

function nameOf([first]: readonly { readonly name: string }[]): string {
  return first?.name ?? "";
}

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { ComponentNode } from "../configuration/topology.js";
import { lockFolder } from "../files/folder-lock.js";
import { notificationCodec } from "../ngsi/index.js";
import type { ArrivalSwitch } from "../pipeline/arrival-switch.js";
import type { CrashWatch } from "../pipeline/crash-watch.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Erasures } from "../pipeline/erasures.js";
import type { Ledger } from "../pipeline/ledger.js";
import type { QuotaBooks } from "../pipeline/service-quota.js";
import { FailureState } from "../pipeline/supervision.js";
import { isPromise } from "../sdk/event-fault.js";
import {
  AgentError,
  type ChannelContext,
  type Context,
  type HealthReport,
  type Kind,
  type Kinds,
  type Metrics,
} from "../sdk/index.js";
import type { Clock, Loggers, Tracing, TransactionObserver } from "../tokens.js";
import type { UsedFolders } from "./used-folders.js";

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
    throw new AgentError("COMPONENT_NOT_CREATED", `creating ${kind} "${node.name}" of type ${definition.type}`, {
      cause,
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
  if (definition.kind === kind && isOfKind(kind, component)) return component;
  const wanted = `an object with ${methods[kind].join(", ")}`;
  const reason = `the plugin for ${definition.kind} "${definition.type}" did not return ${wanted}`;
  throw new AgentError("COMPONENT_NOT_CREATED", `creating ${kind} "${node.name}": ${reason}`, { retryable: false });
}

function isOfKind<K extends Kind>(kind: K, component: unknown): component is Kinds[K] {
  if (typeof component !== "object" || component === null) return false;
  const members = new Map(methods[kind].map((name) => [name, Reflect.get(component, name)]));
  return [...members.values()].every((member) => typeof member === "function");
}

/** Names this run of the agent for stores that several agents write to. Made once: what one process does has one name. */
const runOfProcess: string = [
  hostname().replaceAll(",", "_"),
  process.pid,
  new Date(Date.now() - Math.round(process.uptime() * 1000)).toISOString(),
  randomBytes(8).toString("hex"),
].join(",");

/** What the components of an agent share. */
export interface AssemblyParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  /** Its name in the configuration. */
  readonly agent: string;
  readonly deadLetters: DeadLetters;
  readonly ledger: Ledger;
  readonly crashWatch: CrashWatch;
  readonly erasures: Erasures;
  readonly observer: TransactionObserver;
  /** What services have used of the quotas of sources. */
  readonly quotas: QuotaBooks;
  /** Where sources show what arrives. */
  readonly arrivals: ArrivalSwitch;
  /** Absent while tracing is off. */
  readonly tracing?: Tracing;
  /** The metrics that a component makes by itself. */
  readonly metricsOf: (component: string) => Metrics;
  /** Seconds that the start of a source or sink may take, 0 is no limit; absent: a sink as long as a write. */
  readonly startTimeout?: number;
  /** Seconds to wait for another process that holds a folder; absent: not at all. */
  readonly lockWait?: number;
  /** Where the folders of channels are noted; absent: nowhere. */
  readonly folders?: UsedFolders;
}

type ContextParts = Pick<AssemblyParts, "agent" | "loggers" | "clock" | "dataDir">;

/** For what does not run, such as an explanation. */
export function plainContextOf(name: string, { agent, loggers, clock, dataDir }: ContextParts): Context {
  return { name, agent, log: loggers.of(name), dataDir, run: runOfProcess, now: clock.now };
}

export function contextOf(name: string, parts: AssemblyParts, reported: ReportedHealth): Context {
  return { ...plainContextOf(name, parts), report: reported.of(name), metrics: parts.metricsOf(name) };
}

export function channelContextOf(name: string, parts: AssemblyParts, reported: ReportedHealth): ChannelContext {
  const context = contextOf(name, parts, reported);
  const folderHealth = reported.of(`folder of ${name}`);
  const lost = (file: string) => {
    const reason = `"${file}" was removed while the agent uses its folder: what waits may not be on disk, and another agent could use the folder, too; start the agent again`;
    context.log.error({ file }, "a folder that is in use was removed, or its lock file; start the agent again");
    folderHealth({ state: "down", reason });
  };
  const wait = { seconds: parts.lockWait ?? 0, log: context.log, lost };
  return {
    ...context,
    textCodecs: [notificationCodec],
    lockFolder: async (folder, claim = {}) => {
      const lock = await lockFolder(folder, claim, wait);
      const unused = parts.folders?.add(folder);
      const release = async () => {
        unused?.();
        await lock.release();
      };
      return { release };
    },
  };
}

/** What a component, or one nested in it, says about itself. */
interface Reported {
  readonly name: string;
  readonly state: "degraded" | "down";
  readonly reason: string;
  readonly since: Date;
}

const LONGEST_REASON = 500;

/** The latest reports of a component and of those nested in it, by name. */
export class ReportedHealth {
  readonly #clock: Clock;
  readonly #reports = new Map<string, Reported>();
  readonly #strays = new Map<string, FailureState>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): readonly Reported[] {
    return [...this.#reports.values()];
  }

  /** The `report` of a context. */
  of(name: string): (health: HealthReport) => void {
    return ({ state, reason }) => {
      const before = this.#reports.get(name);
      if (state !== "degraded" && state !== "down") this.#reports.delete(name);
      else {
        const since = before?.state === state ? before.since : this.#clock.now();
        const said = String(reason ?? `it reports that it is ${state}`).slice(0, LONGEST_REASON);
        this.#reports.set(name, { name, state, reason: said, since });
      }
    };
  }

  /** Errors outside of any call, by component. */
  get strays(): ReadonlyMap<string, FailureState> {
    return this.#strays;
  }

  /** An error of a component that its plugin did not catch. */
  strayed(name: string, error: unknown): void {
    const state = this.#strays.get(name) ?? new FailureState(this.#clock);
    this.#strays.set(name, state);
    state.failed(error);
  }

  clear(): void {
    this.#reports.clear();
    this.#strays.clear();
  }
}

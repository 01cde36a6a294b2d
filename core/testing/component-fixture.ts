import { AsyncLocalStorage } from "node:async_hooks";
import { rm } from "node:fs/promises";
import { inspect } from "node:util";
import { isRecord } from "../sdk/event.js";
import { eventFault } from "../sdk/event-fault.js";
import { fieldsOf } from "../sdk/fields.js";
import {
  AgentError,
  type AnyPlugin,
  type Emit,
  type Event,
  type Handler,
  type Kind,
  type Kinds,
  type Logger,
  type Receive,
  type Schema,
} from "../sdk/index.js";
import { refusedByChannels } from "../sdk/source.js";
import { tuningFault } from "../sdk/tuning-fault.js";
import { failure } from "./expectations.js";
import { folderLocks } from "./folder-locks.js";
import { HeldEmits } from "./held-emits.js";
import type { Values } from "./plugin-setup.js";
import { roomFolder } from "./room-folder.js";
import { formatFault } from "./value-formats.js";

/** The environment of the components of one case: a folder of their own, no log, a fixed clock. */
export interface Room {
  readonly folder: string;
  /** What a source has emitted. */
  readonly emitted: readonly Event[];
  /** The next `times` emits fail because the channels have no room. */
  refuse(times: number): void;
  /** No channel takes an event with this body. */
  refuseForGood(body: string): void;
  /** From now on emits wait, until what it returns is called. */
  hold(): () => void;
  /** Emits that have not settled. */
  readonly waiting: number;
  /** The run of the agent is the same for all unless another one is named. */
  create(definition: AnyPlugin, given: Values, run?: string): unknown;
}

/** Runs the work of a case in a folder that goes away with it. */
export async function inRoom(work: (room: Room) => Promise<void>): Promise<void> {
  const folder = await roomFolder();
  const emitted: Event[] = [];
  let refusals = 0;
  let never: string | undefined;
  const room = new HeldEmits();
  let fault: ReturnType<typeof eventFault>;
  const emit = async (events: readonly Event[]) => {
    await room.entered();
    if (refusals > 0) {
      refusals -= 1;
      throw new AgentError("CHANNEL_FULL", "putting events: the channel is full", { retryable: true });
    }
    if (events.some(({ body }) => body === never)) {
      throw new AgentError("NOTIFICATION_TOO_LARGE", "putting events: no channel takes them", { retryable: false });
    }
    const faults = events.flatMap((event) => eventFault(event, noEvent) ?? []);
    emitted.push(...events);
    fault ??= faults[0];
  };
  const context = {
    name: "conformance",
    log: caseLogger(),
    dataDir: folder,
    run: "run",
    now: () => new Date(1_700_000_000_000),
    report: nothing,
    metrics: {
      counter: () => ({ add: nothing }),
      gauge: () => ({ set: nothing }),
      histogram: () => ({ observe: nothing }),
    },
  };
  const lockFolder = folderLocks();
  try {
    await work({
      folder,
      emitted,
      refuse: (times) => {
        refusals = times;
      },
      refuseForGood: (body) => {
        never = body;
      },
      hold: () => room.hold(),
      get waiting() {
        return room.waiting;
      },
      create: (definition, given, run = context.run) => {
        const slots = Object.fromEntries(Object.keys(definition.slots ?? {}).map((slot) => [slot, textHandler]));
        const parts = {
          receive: received(emit),
          refused: nothing,
          emit,
          slots,
          incoming: nothing,
          channels,
          lockFolder,
        };
        return component(definition, definition.create(valuesOf(definition, given), { ...context, ...parts, run }));
      },
    });
    if (fault !== undefined) throw failure(`emit needs events, { headers, body }; it was given ${faultText(fault)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const noEvent: Event = { headers: {}, body: undefined };

/** What came instead of an event, and where. */
export function faultText({ is, at }: NonNullable<ReturnType<typeof eventFault>>): string {
  return at === undefined ? is : `${is} ("${at}")`;
}

/** What create returned, when the agent could work with it. */
function component({ kind }: AnyPlugin, made: unknown): unknown {
  if (typeof made === "object" && made !== null && "then" in made && typeof made.then === "function") {
    Promise.resolve(made).catch(nothing);
    const remedy = "create returns the component at once, and start does what takes time";
    throw notAComponent(`creating the ${kind}: create returned a promise; ${remedy}`);
  }
  const methods: readonly string[] = methodsOf[kind];
  const fault = kind === "sink" && hasMethods(made, methods) ? tuningFault(made) : undefined;
  if (fault !== undefined) throw notAComponent(`creating the ${kind}: ${fault}`);
  if (hasMethods(made, methods)) return made;
  throw notAComponent(`creating the ${kind}: create returned no object with ${methods.join(", ")}`);
}

const methodsOf: { readonly [K in Kind]: readonly (keyof Kinds[K] & string)[] } = {
  source: ["start", "stop"],
  handler: ["decode"],
  interceptor: ["intercept"],
  channel: ["start", "stop", "openPut", "openTake"],
  selector: ["select"],
  sink: ["start", "persist", "stop"],
  "sink-processor": ["order", "succeeded", "failed"],
};

/** The channels that a selector is given. */
export const channels = ["c1", "c2"] as const;

/** The defaults of a definition and the given values over them, those of fields in their objects. */
export function valuesOf({ config, kind, type }: AnyPlugin, given: Values): Values {
  const unset = unsetNames(config, given);
  if (unset.length > 0) {
    const names = unset.map((name) => `"${name}"`).join(", ");
    throw new AgentError("SETUP_INCOMPLETE", `testing the ${kind} "${type}": give values for ${names} in the setup`, {
      retryable: false,
    });
  }
  const wrong = wrongValues(config, given);
  if (wrong.length === 0) return filled(config, given);
  throw new AgentError("SETUP_WRONG", `testing the ${kind} "${type}": in the setup, ${wrong.join("; ")}`, {
    retryable: false,
  });
}

function wrongValues(schema: Schema, given: Values): readonly string[] {
  return Object.entries(schema).flatMap(([name, property]) => {
    const fields = fieldsOf(property);
    if (fields !== undefined) return wrongValues(fields, fieldsGiven(given, name)).map((text) => `${name}.${text}`);
    const fault = given[name] === undefined ? undefined : formatFault(given[name], property);
    return fault === undefined ? [] : [`${name}: ${fault}`];
  });
}

function unsetNames(schema: Schema, given: Values): readonly string[] {
  return Object.entries(schema).flatMap(([name, property]) => {
    const fields = fieldsOf(property);
    if (fields !== undefined) return unsetNames(fields, fieldsGiven(given, name)).map((field) => `${name}.${field}`);
    return property.default === undefined && !(name in given) && property.format !== "map" ? [name] : [];
  });
}

function filled(schema: Schema, given: Values): Values {
  const values = Object.entries(schema).map(([name, property]) => {
    const fields = fieldsOf(property);
    if (fields !== undefined) return [name, filled(fields, fieldsGiven(given, name))];
    return [name, name in given ? given[name] : (property.default ?? {})];
  });
  return { ...given, ...Object.fromEntries(values) };
}

function fieldsGiven(given: Values, name: string): Values {
  const value = given[name];
  return isRecord(value) ? value : {};
}

/** A component as its kind, when it has the given methods. */
export function asKind<K extends Kind>(
  kind: K,
  component: unknown,
  methods: readonly (keyof Kinds[K] & string)[],
): Kinds[K] {
  if (hasMethods<K>(component, methods)) return component;
  throw notAComponent(`creating the ${kind}: create returned no object with ${methods.join(", ")}`);
}

function notAComponent(message: string): AgentError {
  return new AgentError("NOT_A_COMPONENT", message, { retryable: false });
}

function hasMethods<K extends Kind>(component: unknown, methods: readonly string[]): component is Kinds[K] {
  if (typeof component !== "object" || component === null) return false;
  return methods.every((name) => typeof Reflect.get(component, name) === "function");
}

/** A log that nobody reads. */
export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Gets the lines that the components of the case which runs in it log. */
export const caseLog = new AsyncLocalStorage<string[]>();

const LONGEST_LINE = 500;

function caseLogger(): Logger {
  const lines = caseLog.getStore();
  const write = (level: string) => (fields: object, message: string) => {
    const text = inspect(fields, { breakLength: Number.POSITIVE_INFINITY });
    lines?.push(`${level} ${message} ${text}`.replaceAll(/\s+/g, " ").slice(0, LONGEST_LINE));
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

function nothing(): void {}

/** What the agent does with a request, without its accounts. */
function received(emit: Emit): Receive {
  return async (request, refuse) => {
    try {
      await emit(textHandler.decode(request).events);
      return { accepted: true };
    } catch (error) {
      const refused = refusedByChannels(error);
      refuse?.(refused);
      return refused;
    }
  };
}

/** Makes one event of each request: its text. */
const textHandler: Handler = {
  decode: ({ body }) => ({
    events: [{ headers: {}, body: new TextDecoder().decode(body) }],
    service: "s",
    servicePath: "/",
  }),
};

import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import { type LoggerItem, type LogLevel, type PutResult, pinoLevel, type RunningLoggerTarget } from "./definitions.js";

/** The logger whose level applies to all loggers without a level of their own. */
export const ROOT_LOGGER = "root";

interface NamedLogger {
  readonly pino: PinoLogger;
  own: LogLevel | undefined;
  /** A logger that was removed continues to write, at the level of the root logger. */
  listed: boolean;
}

interface LoggerLevels {
  readonly root: LogLevel;
  /** By name of the component. */
  readonly own: ReadonlyMap<string, LogLevel>;
}

/** The loggers of the running agent: one for each component, with levels that can change. */
export class RunningLoggers implements Loggers, RunningLoggerTarget {
  readonly #pino: PinoLogger;
  readonly #start: LoggerLevels;
  readonly #named = new Map<string, NamedLogger>();
  #root: LogLevel;
  #rootListed = true;

  constructor(pino: PinoLogger, levels: LoggerLevels) {
    this.#pino = pino;
    this.#start = levels;
    this.#root = levels.root;
  }

  of(component: string): Logger {
    const known = this.#named.get(component);
    if (known !== undefined) return known.pino;
    const own = this.#start.own.get(component);
    const named = { pino: this.#pino.child({ component }), own, listed: true };
    this.#named.set(component, named);
    this.#setLevel(named);
    return named.pino;
  }

  get rootLevel(): LogLevel {
    return this.#root;
  }

  async list(): Promise<readonly LoggerItem[]> {
    const root = this.#rootListed ? [{ name: ROOT_LOGGER, level: this.#root }] : [];
    const listed = [...this.#named].filter(([name, { listed }]) => listed && name !== ROOT_LOGGER);
    return [...root, ...listed.map(([name, { own }]) => ({ name, level: own ?? this.#root }))];
  }

  /** The root logger can be put again after it was removed. */
  async put({ name, level }: LoggerItem): Promise<PutResult> {
    if (name === ROOT_LOGGER) {
      this.#setRoot(level, true);
      return "updated";
    }
    const named = this.#named.get(name);
    if (named === undefined || !named.listed) return "absent";
    named.own = level;
    this.#setLevel(named);
    return "updated";
  }

  /** A logger without a level of its own has that of the root logger; the root logger has that of the start. */
  async remove(name: string): Promise<boolean> {
    if (name === ROOT_LOGGER) {
      const listed = this.#rootListed;
      this.#setRoot(this.#start.root, false);
      return listed;
    }
    const named = this.#named.get(name);
    if (named === undefined || !named.listed) return false;
    this.#unlist(named);
    return true;
  }

  async removeAll(): Promise<void> {
    for (const named of this.#named.values()) this.#unlist(named);
    this.#setRoot(this.#start.root, false);
  }

  #unlist(named: NamedLogger): void {
    named.own = undefined;
    named.listed = false;
    this.#setLevel(named);
  }

  #setRoot(level: LogLevel, listed: boolean): void {
    this.#root = level;
    this.#rootListed = listed;
    for (const named of this.#named.values()) this.#setLevel(named);
  }

  #setLevel({ pino, own }: NamedLogger): void {
    pino.level = pinoLevel(own ?? this.#root);
  }
}

/** Who writes: the agent, and which of its workers where it has several. */
interface Writer {
  readonly agent: string;
  readonly worker?: number | undefined;
}

/**
 * The parent of all loggers: writes one JSON line for each entry, with UTC time, level name, who writes and the fields of the
 * entry.
 */
export function pinoRoot(destination: DestinationStream, { agent, worker }: Writer): PinoLogger {
  return pino(
    {
      level: "trace",
      base: { agent, ...(worker === undefined ? {} : { worker }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: written },
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: "***" },
    },
    destination,
  );
}

/**
 * An error is its reason: JSON shows nothing of it, and the serializer of pino all members that a client gave it, a password
 * or a token among them.
 */
function written(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields);
  if (!entries.some(([, value]) => value instanceof Error)) return renamed(fields);
  return renamed(
    Object.fromEntries(entries.map(([name, value]) => [name, value instanceof Error ? reasonOf(value) : value])),
  );
}

/** A field of an entry would replace what each line begins with. */
function renamed(fields: Record<string, unknown>): Record<string, unknown> {
  if (!taken.some((name) => Object.hasOwn(fields, name))) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [taken.includes(name) ? `${name}_` : name, value]),
  );
}

const taken = ["level", "time"];

/** The values of fields of these names are never written. */
const secretNames = ["password", "rdb_password", "token", "xauthtoken", "authToken", "authorization"];

/** Loggers that discard everything, for commands that print their own output. */
export const silentLoggers: Loggers = {
  of: () => ({ debug: nothing, info: nothing, warn: nothing, error: nothing }),
};

function nothing(): void {}

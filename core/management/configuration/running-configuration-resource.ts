import { setTimeout as delay } from "node:timers/promises";
import { type Response, Router } from "express";
import type { Agent } from "../../agent/agent.js";
import type { Reload, ReloadEnd } from "../../agent/reload.js";
import { configurationDifference } from "../../agent/state/configuration-difference.js";
import { type ConfigurationFault, errorAt, faultText, MASK } from "../../configuration/configuration-fault.js";
import type { Configuration } from "../../configuration/read-configuration.js";
import { shownProperties } from "../../configuration/shown-settings.js";
import { reasonOf } from "../../sdk/index.js";
import type { PluginCatalogue } from "../../tokens.js";
import { fail, HttpError, sendJson, succeed } from "../answers.js";
import type { Resource } from "../openapi.js";
import { runningConfigurationPaths as paths, runningConfigurationSchemas as schemas } from "./running-openapi.js";

/** The properties file of the agent itself. */
export interface OwnConfiguration {
  readonly file: string;
  /** Reads and checks the file as it is now. */
  readonly read: () => Configuration;
  /** Its text; throws when it cannot be read. */
  readonly text: () => string;
  /** Reloads, and resolves to the outcome; undefined while the agent starts or stops. */
  readonly reload: () => Promise<ReloadReport | undefined>;
  /** Milliseconds that a caller waits for a reload, which goes on afterwards; a minute when absent. */
  readonly longestWait?: number;
}

interface ReloadReport {
  readonly end: ReloadEnd | undefined;
  readonly faults: readonly ConfigurationFault[];
}

interface RunningConfigurationParts {
  readonly own: OwnConfiguration;
  readonly catalogue: PluginCatalogue;
  readonly agent: Pick<Agent, "assembly">;
  readonly reloads: Pick<Reload, "last">;
}

const LONGEST_WAIT = 60_000;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * `GET /v1/configuration`: the file as it is now, checked and compared with what runs. `GET .../properties` shows its
 * lines, `POST /v1/admin/reload` reloads.
 */
export function runningConfigurationResource(parts: RunningConfigurationParts): Resource {
  const { own, catalogue } = parts;
  const router = Router({ caseSensitive: true });
  const looks = new Looks(parts);
  router.get("/v1/configuration", (_request, response) => succeed(response, looks.current()));
  router.get("/v1/configuration/properties", (_request, response) => {
    succeed(response, { properties: propertiesIn(own, catalogue) });
  });
  router.post("/v1/admin/reload", async (_request, response) => {
    const waiting = new AbortController();
    const late = delay(own.longestWait ?? LONGEST_WAIT, "late" as const, { signal: waiting.signal, ref: false }).catch(
      () => "late" as const,
    );
    const report = await Promise.race([own.reload(), late]);
    waiting.abort();
    answerReload(response, report);
  });
  return { router, paths, schemas };
}

/** A file of 1,000 components takes half a second to read, which belongs to the agent: no more than this part of the time. */
const SHARE = 0.05;
const SHORTEST = 1000;

interface Look {
  readonly text: string | undefined;
  readonly ended: ReloadEnd | undefined;
  readonly until: number;
  readonly found: object;
}

/** Looks at the file again when its text has changed or the agent has reloaded, and from time to time. */
class Looks {
  readonly #parts: RunningConfigurationParts;
  #last: Look | undefined;

  constructor(parts: RunningConfigurationParts) {
    this.#parts = parts;
  }

  current(): object {
    const { own, reloads } = this.#parts;
    const text = textOrNothing(own);
    const { last: ended } = reloads;
    const startedAt = performance.now();
    const last = this.#last;
    if (last !== undefined && last.text === text && last.ended === ended && startedAt < last.until) return last.found;
    const found = looked(this.#parts);
    const now = performance.now();
    this.#last = { text, ended, until: now + Math.max(SHORTEST, (now - startedAt) / SHARE), found };
    return found;
  }
}

function textOrNothing({ text }: OwnConfiguration): string | undefined {
  try {
    return text();
  } catch {
    return undefined;
  }
}

function looked({ own, agent, reloads }: RunningConfigurationParts): object {
  const { topology, agents, faults } = readOrFault(own);
  const difference = topology === undefined ? undefined : configurationDifference(agent.assembly, topology);
  const { last } = reloads;
  return {
    file: own.file,
    agents,
    ...(topology === undefined ? {} : { agent: topology.agent }),
    usable: topology !== undefined,
    faults: faults.map(shownFault),
    ...(difference === undefined
      ? {}
      : { same: difference.added.length + difference.removed.length + difference.changed.length === 0, difference }),
    ...(last === undefined ? {} : { last_reload: shownEnd(last) }),
  };
}

function readOrFault({ file, read }: OwnConfiguration): Configuration {
  try {
    return read();
  } catch (error) {
    const fault = errorAt({ key: "--config", value: file }, `cannot be read (${reasonOf(error)})`);
    return { topology: undefined, agents: [], faults: [fault] };
  }
}

function answerReload(response: Response, report: ReloadReport | "late" | undefined): void {
  if (report === "late") {
    sendJson(response, 202, { success: "true", outcome: "running" });
    return;
  }
  if (report?.end === undefined) {
    response.set("Retry-After", "5");
    fail(response, 503, { error: "The agent starts or stops. Try again when it is ready" });
    return;
  }
  const { time: _time, ok, ...end } = report.end;
  const faults = report.faults.map(shownFault);
  if (ok) succeed(response, { ...end, faults });
  else fail(response, 409, { error: reloadErrors.get(end.outcome) ?? "Not reloaded", ...end, faults });
}

const reloadErrors: ReadonlyMap<ReloadEnd["outcome"], string> = new Map([
  ["refused", "The file has errors or cannot be read; the agent keeps its present configuration"],
  ["failed", "A component could not be replaced; the configuration before runs again"],
]);

function shownEnd({ time, ...end }: ReloadEnd): object {
  return { ...end, time: time.toISOString() };
}

function shownFault(fault: ConfigurationFault): object {
  const { severity, key, value, reason, nearest, line } = fault;
  return { severity, key, value, reason, nearest, line, text: faultText(fault) };
}

function textOf({ file, text }: OwnConfiguration): string {
  let found: string;
  try {
    found = text();
  } catch (cause) {
    throw new HttpError(409, { error: `The file ${file} cannot be read` }, { cause });
  }
  if (found.length <= MOST_BYTES) return found;
  throw new HttpError(409, { error: `The file ${file} has more than ${MOST_BYTES} characters` });
}

function propertiesIn(own: OwnConfiguration, catalogue: PluginCatalogue): readonly object[] {
  const text = textOf(own);
  try {
    const shown = [...shownProperties(text, catalogue)];
    return shown.map(([key, value]) => ({ key, value, ...(value === MASK ? { masked: true } : {}) }));
  } catch (cause) {
    throw new HttpError(409, { error: `The file is not a valid properties file (${reasonOf(cause)})` }, { cause });
  }
}

import { holderOf, isRunning } from "../../files/lock-note.js";
import { remedyOfRefusal } from "../../files/refused-access.js";
import { AgentError, codeOf, type Probe, type ProbeResult, reasonOf } from "../../sdk/index.js";

/** Who is examined. */
export interface Examinee {
  /** As in the configuration; nested components with their path. */
  readonly component: string;
  readonly kind: string;
  readonly type: string;
}

/** What one probe found. */
export interface Finding extends Examinee, Omit<ProbeResult, "outcome"> {
  readonly tried: string;
  /** `skipped`: a probe before it failed, or there is nothing to try. */
  readonly outcome: ProbeResult["outcome"] | "skipped";
  readonly milliseconds: number;
}

interface ProbeLimits {
  /** Milliseconds that one probe may take. */
  readonly milliseconds: number;
  /** How many run at a time. */
  readonly atOnce: number;
  /** The pid of the agent that runs with the file, and so holds its ports and folders; undefined when none does. */
  readonly running: number | undefined;
}

/** The pid in a note of a lock when its process runs this properties file. */
export function runningPid(note: string | undefined, file: string): number | undefined {
  const holder = note === undefined ? undefined : holderOf(note);
  return holder !== undefined && isRunning(holder, file) ? holder.pid : undefined;
}

/** Runs probes, a limited number at a time and each for a limited time, whatever they wait for. */
export class ProbeRuns {
  readonly #limits: ProbeLimits;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limits: ProbeLimits) {
    this.#limits = limits;
    this.#free = limits.atOnce;
  }

  /** The findings of probes that are tried at the same time, and of those after them, in order. */
  async all(examinee: Examinee, probes: readonly Probe[]): Promise<readonly Finding[]> {
    return (await Promise.all(probes.map((probe) => this.#one(examinee, probe)))).flat();
  }

  async #one(examinee: Examinee, probe: Probe): Promise<readonly Finding[]> {
    const first = await this.#tried(examinee, probe);
    const findings = [first];
    for (const next of probe.next ?? []) {
      if (first.outcome === "failed") findings.push(...skipped(examinee, next, `needs "${probe.tries}"`));
      else findings.push(...(await this.#one(examinee, next)));
    }
    return findings;
  }

  async #tried(examinee: Examinee, { tries, run }: Probe): Promise<Finding> {
    await this.#turn();
    const startedAt = performance.now();
    let result: ProbeResult;
    try {
      result = checked(await this.#inTime(run));
    } catch (error) {
      result = await this.#failed(error);
    } finally {
      this.#leave();
    }
    return { ...examinee, tried: tries, ...result, milliseconds: Math.round(performance.now() - startedAt) };
  }

  async #inTime(run: Probe["run"]): Promise<ProbeResult> {
    const { milliseconds } = this.#limits;
    const ending = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const reason = `no result within ${milliseconds / 1000} s; see whether it hangs, or raise --probe-timeout`;
        reject(new AgentError("TIMED_OUT", reason, { retryable: true }));
        ending.abort();
      }, milliseconds);
    });
    try {
      // An error of a plugin that is thrown at once rejects too.
      return await Promise.race([(async () => run(ending.signal))(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #failed(error: unknown): Promise<ProbeResult> {
    const { running } = this.#limits;
    if (running !== undefined && heldCodes.has(codeOf(error) ?? ""))
      return { outcome: "ok", reason: `the agent that runs with this file holds it (pid ${running})` };
    const result = failedResult(error);
    const remedy = result.remedy ?? (await remedyOfRefusal(error));
    return remedy === undefined ? result : { ...result, remedy };
  }

  async #turn(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
  }

  #leave(): void {
    this.#free += 1;
    this.#waiting.shift()?.();
  }
}

const heldCodes: ReadonlySet<string> = new Set(["PORT_IN_USE", "EADDRINUSE", "FOLDER_IN_USE"]);

function skipped(examinee: Examinee, { tries, next = [] }: Probe, reason: string): readonly Finding[] {
  const own: Finding = { ...examinee, tried: tries, outcome: "skipped", reason, milliseconds: 0 };
  return [own, ...next.flatMap((one) => skipped(examinee, one, reason))];
}

const outcomes: ReadonlySet<unknown> = new Set(["ok", "warning", "failed"]);

/** What a plugin returned, when it is a result. */
function checked(result: ProbeResult | undefined): ProbeResult {
  if (result === undefined || !outcomes.has(result.outcome)) {
    const message = "the probe returned no result; its plugin must be corrected: an outcome is ok, warning or failed";
    throw new AgentError("PROBE_RESULT_INVALID", message, { retryable: false });
  }
  const { outcome, reason, remedy } = result;
  return { outcome, ...(reason === undefined ? {} : { reason }), ...(remedy === undefined ? {} : { remedy }) };
}

/** The last part of a message says what to do. */
export function failedResult(error: unknown): ProbeResult {
  const whole = reasonOf(error);
  const message = error instanceof Error && whole.startsWith(error.message) ? error.message : whole;
  const at = message.lastIndexOf("; ");
  if (at === -1) return { outcome: "failed", reason: whole };
  const causes = whole.slice(message.length);
  return { outcome: "failed", reason: message.slice(0, at) + causes, remedy: message.slice(at + 2) };
}

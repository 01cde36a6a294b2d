import cluster from "node:cluster";
import { rm } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { WorkerView } from "../../management/workers/team.js";
import { type Logger, reasonOf } from "../../sdk/index.js";
import { exitCodes } from "../command.js";
import { noteEmptied, prepareFolder, prepareSockets } from "./folders.js";
import { closeUntaken } from "./given-connections.js";
import { heapShare } from "./heap-share.js";
import { type Member, memberOf, tell } from "./member.js";
import { type End, endFields, endText, isEndedByStop } from "./process-end.js";
import { isWorkerMessage, roleVariable } from "./role.js";
import { LOOK, looked } from "./silence.js";

/** Milliseconds before a worker that ended is started again: doubled each time, up to the most. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 10_000;
/** One that ran for as long is no longer counted as failing. */
const STEADY = 30_000;

interface SupervisorParts {
  readonly dataDir: string;
  /** Number of workers that receive. */
  readonly workers: number;
  /** Numbers of further ones that have something left to store. */
  readonly left: readonly number[];
  /** Names of the channels of the configuration. */
  readonly channels: readonly string[];
  /** Folder of the sockets. */
  readonly sockets: string;
  readonly gracePeriodSeconds: number;
  readonly log: Logger;
  readonly now: () => Date;
}

const program = fileURLToPath(new URL("../../main.js", import.meta.url));

/** Runs the workers of an agent: starts them, starts those again that end, and stops them together. */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #members: Member[];
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;
  #hasStarted = false;
  /** Of what ended while it was asked to, or before it was ready. */
  #exitCode: number = exitCodes.success;
  #started: (() => void) | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(parts: SupervisorParts) {
    const { workers, left } = parts;
    this.#parts = parts;
    const team = { ...parts, of: workers + left.length };
    const receiving = Array.from({ length: workers }, (_, at) => at + 1);
    this.#members = [
      ...receiving.map((number) => memberOf(team, { number, receives: true })),
      ...left.map((number) => memberOf(team, { number, receives: false })),
    ];
  }

  /** In order of their numbers. */
  get workers(): readonly WorkerView[] {
    return this.#members.map(({ number, state, since, reason, receives, socket, process }) => {
      return { number, state, since, reason, receives, socket, pid: process?.process.pid };
    });
  }

  /** Events that an end of all processes would lose now, as far as the workers have told while they stop. */
  get eventsInMemory(): number {
    return this.#members.reduce((sum, { process, inMemory }) => sum + (process === undefined ? 0 : inMemory), 0);
  }

  /**
   * Resolves when every worker was ready once, or `stop` was called. False when one of them ended before: it has said why, or
   * it was killed, and the others are stopped.
   */
  async start(): Promise<boolean> {
    const execArgv = [...process.execArgv, ...heapShare(this.#members.length)];
    cluster.setupPrimary({ exec: program, args: process.argv.slice(2), execArgv });
    const started = new Promise<void>((resolve) => {
      this.#started = resolve;
    });
    for (const member of this.#members) this.#launch(member);
    this.#looking = setInterval(() => this.#look(), LOOK);
    await started;
    return this.#hasStarted || this.#isStopping;
  }

  reload(): void {
    for (const member of this.#members) tell(member, { deneb: "reload" });
  }

  /** Stops all workers in order and waits for them, and ends those that are silent; resolves to the exit code of the whole. */
  async stop(): Promise<number> {
    this.#isStopping = true;
    this.#started?.();
    for (const member of this.#members) {
      clearTimeout(member.restart);
      if (member.process === undefined) continue;
      this.#enter(member, "stopping");
      tell(member, { deneb: "stop" });
    }
    await Promise.all(this.#running);
    clearInterval(this.#looking);
    return this.#exitCode;
  }

  /** Ends what still runs, whatever is lost. */
  kill(): void {
    for (const { process } of this.#members) process?.process.kill("SIGKILL");
  }

  #launch(member: Member): void {
    const running = this.#run(member);
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  /** From the start of a process to what its end means. */
  async #run(member: Member): Promise<void> {
    const startedAt = performance.now();
    let end: Omit<End, "lasted" | "lost">;
    try {
      end = await this.#process(member);
    } catch (error) {
      end = { code: null, signal: null, failure: reasonOf(error) };
      this.#parts.log.error({ worker: member.number, reason: end.failure }, "a worker cannot be started");
    }
    member.process = undefined;
    const lost = end.signal === null ? 0 : member.inMemory;
    const lasted = performance.now() - startedAt;
    // The system may report this end before the same signal to this process.
    await nextTurn();
    await this.#over(member, { ...end, lost, lasted });
  }

  /** Starts a process and resolves to how it ended; rejects when it cannot be started. */
  async #process(member: Member): Promise<Omit<End, "lasted" | "lost">> {
    const { number, of, receives, dataDir, socket } = member;
    if (receives) await prepareFolder(dataDir);
    await prepareSockets(this.#parts.sockets);
    // A process that was killed leaves its socket.
    await rm(socket, { force: true });
    if (this.#isStopping) return { code: exitCodes.success, signal: null };
    const launched = cluster.fork(roleVariable({ number, of, receives, dataDir, socket }));
    member.process = launched;
    closeUntaken(launched.process);
    member.inMemory = 0;
    member.looks = 0;
    member.isKilled = false;
    this.#enter(member, "starting", member.reason);
    launched.on("message", (message: unknown) => this.#heard(member, message));
    return await new Promise((resolve, reject) => {
      launched.on("exit", (code, signal) => resolve({ code, signal }));
      // Without a process there is no end to wait for; else it is a message that did not arrive.
      launched.on("error", (error) => (launched.process.pid === undefined ? reject(error) : undefined));
    });
  }

  #heard(member: Member, message: unknown): void {
    if (!isWorkerMessage(message)) return;
    member.looks = 0;
    if (message.deneb === "in-memory") member.inMemory = message.events;
    // A message to a process that does not listen yet is lost; one that reports listens, and stops once.
    if (this.#isStopping) tell(member, { deneb: "stop" });
    else if (message.deneb === "ready") this.#runs(member);
    else if (member.state === "silent") {
      this.#parts.log.info({ worker: member.number }, "a silent worker reports again");
      this.#runs(member);
    }
  }

  #runs(member: Member): void {
    this.#enter(member, "running");
    if (this.#members.every(({ state }) => state === "running")) this.#allRun();
  }

  #look(): void {
    const { log, gracePeriodSeconds } = this.#parts;
    for (const member of this.#members) {
      const found = looked(member, gracePeriodSeconds);
      if (found === undefined) continue;
      const fields = { worker: member.number, seconds: (member.looks * LOOK) / 1000 };
      if (found === "silent") {
        this.#enter(member, "silent", `it has not reported for ${fields.seconds} seconds`);
        log.error(fields, "a worker is silent: it does not report, and nothing is asked of it");
      } else {
        log.error(fields, "a worker is killed: it does not report");
        // For good: one that went on later would have the folder of its successor.
        member.isKilled = true;
        member.process?.process.kill("SIGKILL");
      }
    }
  }

  #allRun(): void {
    this.#hasStarted = true;
    this.#started?.();
  }

  async #over(member: Member, end: End): Promise<void> {
    const { number, receives } = member;
    const { log } = this.#parts;
    if (this.#isStopping) {
      if (isEndedByStop(end)) return;
      if (end.signal !== null) log.error({ worker: number, ...endFields(end) }, "a worker did not stop in order");
      this.#note(end);
      return;
    }
    if (!receives && end.code === exitCodes.success) {
      this.#members.splice(this.#members.indexOf(member), 1);
      await this.#noteEmptied(member);
      if (this.#members.every(({ state }) => state === "running")) this.#allRun();
      return;
    }
    if (!this.#hasStarted) {
      if (end.signal !== null) log.error({ worker: number, ...endFields(end) }, "a worker ended before all were ready");
      this.#note(end);
      this.#started?.();
      return;
    }
    member.failures = end.lasted >= STEADY ? 1 : member.failures + 1;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (member.failures - 1));
    this.#enter(member, "restarting", `${endText(end)}; it is started again`);
    log.error({ worker: number, ...endFields(end), seconds: pause / 1000 }, "a worker ended; it is started again");
    member.restart = setTimeout(() => this.#launch(member), pause);
  }

  /** Without the note the next start looks again. */
  async #noteEmptied({ number: worker, dataDir: folder }: Member): Promise<void> {
    const { log, channels } = this.#parts;
    try {
      const unknown = await noteEmptied(folder, channels);
      if (unknown.length === 0) log.info({ worker, folder }, "worker ended: it has stored what an earlier start left");
      else log.warn({ worker, folder, channels: unknown }, "worker ended: the configuration has no such channels");
    } catch (error) {
      log.warn({ worker, folder, reason: reasonOf(error) }, "worker ended: that its folder is empty cannot be noted");
    }
  }

  #note(end: End): void {
    if (this.#exitCode === exitCodes.eventsLost) return;
    const code = end.code ?? (end.lost > 0 ? exitCodes.eventsLost : exitCodes.failure);
    if (code !== exitCodes.success) this.#exitCode = code;
  }

  #enter(member: Member, state: WorkerView["state"], reason?: string): void {
    member.state = state;
    member.since = this.#parts.now();
    member.reason = reason;
  }
}

import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Sink } from "../../core/sdk/index.js";
import { Accounts } from "./accounts.js";
import { copyNow } from "./folders.js";
import { Life } from "./life.js";
import { ModelAgent, type Setup } from "./model-agent.js";
import { ModelSink, poisonHeader, turn } from "./model-sink.js";
import { ModelStore } from "./model-store.js";
import type { Step } from "./steps.js";

/** Turns of a millisecond that an agent may take until everything is settled when nothing is wrong any more. */
const mostTurns = 2500;

/** An agent, its store, and all processes and copies that there were. */
export class World {
  readonly store = new ModelStore();
  readonly accounts = new Accounts();
  readonly #setup: Setup;
  readonly #folder: string;
  readonly #sink: (name: string, life: Life) => Sink;
  readonly #all: ModelAgent[] = [];
  #agent: ModelAgent;
  #twin: ModelAgent | undefined;
  /** What is under way and must end before the agent is asked for something else. */
  #busy: Promise<unknown> = Promise.resolve();
  #puts: Promise<void>[] = [];
  /** All that was begun, also in processes that have ended. */
  readonly #begun: Promise<void>[] = [];

  constructor(
    setup: Setup,
    folder: string,
    sink: (name: string, life: Life, store: ModelStore) => Sink = (name, life, store) =>
      new ModelSink(name, store, life),
  ) {
    this.#setup = setup;
    this.#folder = folder;
    this.#sink = (name, life) => sink(name, life, this.store);
    this.#agent = this.#begin(this.#newFolder());
  }

  get agent(): ModelAgent {
    return this.#agent;
  }

  /** Whether one order of rows follows from the order of acceptance. */
  get isOrdered(): boolean {
    return this.#setup.sinks !== "two" && !this.accounts.twins;
  }

  async step(step: Step): Promise<void> {
    switch (step.do) {
      case "turns":
        for (let count = 0; count < step.count; count += 1) await turn();
        return;
      case "script":
        return this.store.script(step.moods);
      case "away":
      case "back":
        this.store.reachable = step.do === "back";
        return;
      case "take poison":
        this.store.takesPoison = true;
        return;
      case "put":
        return await this.#put(step);
      case "replay":
        return await this.#idle(() => this.#agent.replay());
      case "reload":
        return await this.#reload(step);
      case "stop":
        return await this.#idle(() => this.#stopAndStart(step.grace));
      case "crash":
        this.#crash();
        if (step.wait) await this.#busy;
        return;
      case "crash at a commit":
        this.store.atCommit = () => this.#crash();
        return;
      case "twin":
        return await this.#idle(async () => this.#copy());
      case "end twin":
        return this.#twin?.life.kill();
    }
  }

  /** Ends all that is wrong, waits until nothing is under way, and says what is left then. */
  async settle(): Promise<void> {
    this.#twin?.life.kill();
    this.store.atCommit = undefined;
    this.store.heal();
    await this.#ready();
    if (!(await this.#drained(this.accounts.twins ? 300 : mostTurns)) && this.accounts.twins) await this.#remedy();
    await this.#drained(mostTurns);
    await this.#replayLeft();
    await this.accounts.takeStock(this.#agent, this.store);
  }

  /** Kills the agent and starts it again. */
  async restart(): Promise<void> {
    this.#crash();
    await this.settle();
  }

  async end(): Promise<void> {
    for (const { life } of this.#all) life.bury();
    // A start that goes on after the stop of its agent would write to a folder that is removed.
    await withinTurns(Promise.all(this.#begun));
    await Promise.all(this.#all.map((agent) => agent.stop(0).catch(() => undefined)));
    await Promise.allSettled([this.#busy, ...this.#puts]);
  }

  #newFolder(): string {
    return path.join(this.#folder, String(this.#all.length));
  }

  #begin(dataDir: string): ModelAgent {
    const life = new Life(`run${this.#all.length}`);
    const agent = new ModelAgent({ setup: this.#setup, life, dataDir, sink: this.#sink });
    this.#all.push(agent);
    return agent;
  }

  /** Work that waits for what is under way, unless the process ends meanwhile. */
  async #idle(work: () => Promise<void>): Promise<void> {
    await this.#ready();
    await this.#while(this.#agent.life, work());
  }

  /** Resolves when nothing is under way; a crash meanwhile begins another start. */
  async #ready(): Promise<void> {
    let busy: Promise<unknown>;
    do {
      busy = this.#busy;
      await busy;
      await Promise.all(this.#puts);
    } while (busy !== this.#busy);
  }

  /** Resolves when the work has ended or its process has. */
  async #while(life: Life, work: Promise<void>): Promise<void> {
    const ended = work.catch((error: unknown) => {
      if (!life.isDead) throw error;
    });
    this.#begun.push(ended.catch(() => undefined));
    while (!life.isDead) if ((await Promise.race([ended.then(() => true), turn().then(() => false)])) === true) return;
  }

  async #put({ events, poison, wait }: Extract<Step, { do: "put" }>): Promise<void> {
    await this.#busy;
    const { life, channel } = this.#agent;
    const ids = this.accounts.newIds(events);
    const transaction = channel.openPut(events);
    for (const id of ids) transaction.put({ headers: id === ids[poison - 1] ? { [poisonHeader]: "1" } : {}, body: id });
    const committed = transaction.commit().then(
      () => {
        if (!life.isDead) this.accounts.accept(ids);
      },
      () => undefined,
    );
    this.#puts.push(this.#while(life, committed));
    if (wait) await Promise.all(this.#puts);
  }

  async #reload({ channel, sinks, grace, wait }: Extract<Step, { do: "reload" }>): Promise<void> {
    await this.#ready();
    const agent = this.#agent;
    this.#busy = this.#while(agent.life, agent.reload(channel, sinks, grace));
    if (wait) await this.#busy;
  }

  async #stopAndStart(grace: number): Promise<void> {
    const before = this.#agent;
    await before.stop(grace);
    if (before.life.isDead) return;
    if (this.#setup.channel === "memory") this.accounts.mayLose();
    before.life.kill();
    this.#start(before.dataDir);
    await this.#busy;
  }

  #crash(): void {
    const { life, dataDir } = this.#agent;
    if (life.isDead) return;
    life.kill();
    if (this.#setup.channel !== "file") this.accounts.mayLose();
    const folder = this.#newFolder();
    copyNow(dataDir, folder);
    this.#start(folder);
  }

  #start(dataDir: string): void {
    const agent = this.#begin(dataDir);
    this.#agent = agent;
    this.#puts = [];
    this.#busy = this.#while(agent.life, agent.start());
  }

  /** The first start. */
  async start(): Promise<void> {
    await this.#agent.start();
  }

  /** A second agent on a copy of the data directory. */
  #copy(): void {
    if (this.#twin !== undefined) return;
    const folder = this.#newFolder();
    copyNow(this.#agent.dataDir, folder);
    this.accounts.copied();
    // Each sink of a group keeps a position of its own, and agents meet within one only: see docs/delivery.md.
    if (this.#setup.sinks === "group") this.accounts.mayBeStoredByBoth();
    const twin = this.#begin(folder);
    this.#twin = twin;
    void this.#while(twin.life, twin.start());
  }

  /** What the documentation says for the agent that is to go on. */
  async #remedy(): Promise<void> {
    this.accounts.checkNothingTwice(this.store);
    this.store.forgetPositions();
    this.accounts.mayBeStoredByBoth();
    this.accounts.forgotten(this.#agent.channel.size ?? 0, this.store);
  }

  /** A crash during a replay leaves dead letters that may be stored: replayed again, each is stored once. */
  async #replayLeft(): Promise<void> {
    const { letters } = this.#agent;
    let left = false;
    for await (const { state } of letters.open()) left ||= state === "replaying";
    if (!left) return;
    await this.#agent.replay();
    await this.#drained(mostTurns);
  }

  async #drained(most: number): Promise<boolean> {
    for (let count = 0; count < most; count += 1) {
      await this.#busy;
      const { channel, ledger } = this.#agent;
      if (channel.size === 0 && ledger.unaccounted === 0) return true;
      await delay(1);
    }
    return false;
  }
}

/** Resolves when the work has ended, or is late: what hangs must not hide why a history failed. */
async function withinTurns(work: Promise<unknown>): Promise<void> {
  const ended = work.then(() => true);
  for (let count = 0; count < mostTurns; count += 1) if (await Promise.race([ended, delay(1, false)])) return;
}

import { setTimeout } from "node:timers/promises";
import type { AnyPlugin } from "../sdk/index.js";
import { asKind, type Room } from "./component-fixture.js";
import { failure } from "./expectations.js";
import { called } from "./plugin-calls.js";
import type { ConformanceInlet, Values } from "./plugin-setup.js";
import { StoreWay } from "./store-way.js";

const MOST_MILLIS = 10_000;
const SOME_MILLIS = 1000;
const PAUSE_MILLIS = 5;

/** A source, what is sent to it, and the channels behind it, for one case. */
export class SourceBench {
  readonly #definition: AnyPlugin;
  readonly #inlet: ConformanceInlet;
  readonly #room: Room;
  #way: StoreWay | undefined;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(definition: AnyPlugin, inlet: ConformanceInlet, room: Room) {
    this.#definition = definition;
    this.#inlet = inlet;
    this.#room = room;
  }

  /** Starts a source; what stops it is called at the end, too. */
  async start(values: Values = {}): Promise<() => Promise<void>> {
    const config = { ...this.#inlet.config, ...values };
    const source = asKind("source", this.#room.create(this.#definition, config), ["start", "stop"]);
    const stop = () => called("stop", () => source.stop(new AbortController().signal));
    this.#stops.push(stop);
    await called("start", () => source.start());
    return stop;
  }

  /** Starts a source whose connections can be cut; it may connect again. */
  async startOnWay(): Promise<StoreWay> {
    const { tcp } = this.#inlet;
    if (tcp === undefined) throw failure("the inlet of the setup has no tcp");
    const way = await StoreWay.open(tcp);
    this.#way = way;
    await this.start(tcp.through(way.port));
    return way;
  }

  async send(text: string): Promise<boolean> {
    return await this.#inlet.send(text);
  }

  /** From now on emits wait, until what it returns is called. */
  hold(): () => void {
    return this.#room.hold();
  }

  /** Until an emit waits for room. */
  async untilWaits(): Promise<void> {
    const end = performance.now() + MOST_MILLIS;
    while (this.#room.waiting === 0 && performance.now() < end) await setTimeout(PAUSE_MILLIS);
    if (this.#room.waiting === 0) throw failure("something was sent, and the source calls neither receive nor emit");
  }

  /** Looks for a while whether more emits wait. */
  async moreWait(most: number): Promise<boolean> {
    const end = performance.now() + SOME_MILLIS;
    while (this.#room.waiting <= most && performance.now() < end) await setTimeout(PAUSE_MILLIS);
    return this.#room.waiting > most;
  }

  /** No channel will ever take this text. */
  refuseForGood(text: string): void {
    this.#room.refuseForGood(text);
  }

  /** How many times the channels have no room. */
  refuse(times: number): void {
    this.#room.refuse(times);
  }

  get emitted(): readonly unknown[] {
    return this.#room.emitted.map(({ body }) => body);
  }

  async untilEmitted(text: string): Promise<void> {
    const end = performance.now() + MOST_MILLIS;
    while (!this.emitted.includes(text) && performance.now() < end) await setTimeout(PAUSE_MILLIS);
    if (!this.emitted.includes(text)) {
      const seconds = MOST_MILLIS / 1000;
      throw failure(
        `"${text}" was sent and not emitted within ${seconds} s; emitted are ${this.emitted.length} others`,
      );
    }
  }

  /** What still waits for room gets it: a source may wait for that at its stop. */
  async end(): Promise<void> {
    this.#room.hold()();
    for (const stop of this.#stops) await stop();
    await this.#way?.close();
    await this.#inlet.close();
  }
}

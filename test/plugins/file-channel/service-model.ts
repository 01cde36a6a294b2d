import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { codeOf, type Event, type TakeTransaction } from "../../../core/sdk/index.js";
import type { FileChannel, LogConfig } from "../../../plugins/file-channel/file-channel.js";
import { copyOf, openIn } from "./channel-folder.js";

const now = AbortSignal.abort();

interface Taken {
  readonly transaction: TakeTransaction;
  readonly events: readonly Event[];
}

/** A channel, and beside it plain lists of what must be in it; each step compares both. */
export class ServiceModel {
  readonly #folder: string;
  readonly #config: Partial<LogConfig>;
  readonly #waiting = new Map<string, number[]>();
  readonly #stored: number[] = [];
  #taken: Taken[] = [];
  #next = 0;
  #position: string | undefined;
  refused = 0;

  private constructor(
    folder: string,
    config: Partial<LogConfig>,
    private dataDir: string,
    private channel: FileChannel,
  ) {
    this.#folder = folder;
    this.#config = config;
  }

  static async open(folder: string, config: Partial<LogConfig>): Promise<ServiceModel> {
    const dataDir = await mkdtemp(path.join(folder, "m-"));
    return new ServiceModel(folder, config, dataDir, (await openIn(dataDir, config)).channel);
  }

  get stored(): readonly number[] {
    return this.#stored;
  }

  get accepted(): number {
    return this.#next;
  }

  get openTakes(): number {
    return this.#taken.length;
  }

  async put(service: string, count: number, way: "commit" | "reserve" | "roll back"): Promise<void> {
    const transaction = this.channel.openPut(count);
    const bodies = Array.from({ length: count }, (_, at) => this.#next + at);
    for (const body of bodies) transaction.put({ headers: { "fiware-service": service }, body });
    try {
      if (way !== "commit") await transaction.reserve?.("at-once");
      if (way === "roll back") return await transaction.rollback();
      await transaction.commit();
    } catch (error) {
      assert.ok(
        ["CHANNEL_SHARE_FULL", "CHANNEL_FULL", "NOTIFICATION_TOO_LARGE"].includes(codeOf(error) ?? ""),
        `${error}`,
      );
      await transaction.rollback();
      this.refused += 1;
      return;
    }
    this.#next += count;
    this.#waiting.set(service, [...(this.#waiting.get(service) ?? []), ...bodies]);
  }

  async take(max: number): Promise<void> {
    const transaction = this.channel.openTake();
    const events = await transaction.take(max, now);
    for (const [service, bodies] of byService(events)) {
      const inHand = this.#taken.flatMap((taken) => byService(taken.events).get(service) ?? []);
      const left = (this.#waiting.get(service) ?? []).filter((body) => !inHand.includes(body));
      assert.deepEqual(bodies, left.slice(0, bodies.length), "the events of one service come in their order");
    }
    if (events.length > 0) this.#taken.push({ transaction, events });
  }

  async end(at: number, way: "commit" | "roll back"): Promise<void> {
    const [taken] = this.#taken.splice(at, 1);
    if (taken === undefined) return;
    if (way === "roll back") return await taken.transaction.rollback();
    this.#store(taken);
    await taken.transaction.commit();
  }

  async restart(): Promise<void> {
    this.#taken = [];
    await this.channel.stop();
    this.channel = (await openIn(this.dataDir, this.#config)).channel;
    await this.#skip();
  }

  /** The process ends: before that, a store may have had the events of a take that was not committed. */
  async crash(storing: boolean): Promise<void> {
    const [first] = this.#taken;
    if (storing && first !== undefined) this.#store(first);
    this.#taken = [];
    const before = this.channel;
    this.dataDir = await copyOf(this.dataDir, await mkdtemp(path.join(this.#folder, "m-")));
    await before.stop();
    this.channel = (await openIn(this.dataDir, this.#config)).channel;
    await this.#skip();
  }

  check(): void {
    const counts = [...this.#waiting].flatMap(([service, bodies]) =>
      bodies.length === 0 ? [] : [[service, bodies.length] as const],
    );
    const held = (this.channel.largestServices(1000) ?? []).map(({ service, events }) => [service, events] as const);
    assert.deepEqual(new Map(held), new Map(counts));
    const size = counts.reduce((sum, [, count]) => sum + count, 0);
    assert.equal(this.channel.size, size, "the counts of the services add up to the size");
  }

  async stop(): Promise<void> {
    await this.channel.stop();
  }

  #store({ events, transaction }: Taken): void {
    this.#position = transaction.positions?.after(events.length);
    const ranges = this.#position?.split(",").length ?? 0;
    assert.ok(ranges <= 500, `a position names ${ranges} stretches`);
    for (const [service, bodies] of byService(events)) {
      const left = this.#waiting.get(service) ?? [];
      this.#waiting.set(
        service,
        left.filter((body) => !bodies.includes(body)),
      );
      this.#stored.push(...bodies);
    }
  }

  async #skip(): Promise<void> {
    if (this.#position !== undefined) await this.channel.skipTo(this.#position);
  }
}

function byService(events: readonly Event[]): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const { headers, body } of events) {
    const service = headers["fiware-service"] ?? "";
    groups.set(service, [...(groups.get(service) ?? []), Number(body)]);
  }
  return groups;
}

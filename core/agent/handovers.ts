import { withinGrace } from "../pipeline/supervision.js";
import { type Handover, type Logger, reasonOf } from "../sdk/index.js";
import type { RunningSource } from "./component.js";

/** A source, and which plugin it is of. */
type Owner = Pick<RunningSource, "name" | "source"> & { readonly node: Pick<RunningSource["node"], "definition"> };

/** What one replaced source left. */
interface Left {
  readonly from: Owner;
  readonly handover: Handover;
}

/**
 * What replaced sources left open, from the moment they hand it over until a successor has started with it. While a
 * start may still fail nothing is closed, so that the source before can go on with the same socket.
 */
export class Handovers {
  readonly #log: Logger;
  #left: readonly Left[] = [];
  readonly #taken = new WeakMap<Owner, Left>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Lets a source hand over, where one of its successors can take what it has open. */
  async from(source: Owner, successors: readonly Owner[], grace: AbortSignal): Promise<void> {
    const isHeir = (next: Owner) => next.source.takeOver !== undefined && isSameKind(source, next);
    if (source.source.handOver === undefined || !successors.some(isHeir)) return;
    const handing = handedOver(source, grace);
    try {
      const handover = await withinGrace(handing, source.name, grace);
      if (handover !== undefined) this.#left = [...this.#left, { from: source, handover }];
    } catch (error) {
      this.#log.error({ affected: source.name, reason: reasonOf(error) }, "source did not hand over");
      // What still comes is not for anybody.
      void handing.then((late) => late?.close()).catch(() => undefined);
    }
  }

  /** Offers what is left to a source that is about to start, that of the source of the same name first. */
  offer(next: Owner): void {
    const fitting = this.#left.filter(({ from }) => isSameKind(from, next));
    const own = fitting.filter(({ from }) => from.name === next.name);
    const others = fitting.filter(({ from }) => from.name !== next.name);
    const taken = [...own, ...others].find(({ handover }) => next.source.takeOver?.(handover) === true);
    if (taken !== undefined) this.#taken.set(next, taken);
  }

  /** The source has started: what it took is its own, and the source that left it is not remembered with it. */
  started(source: Owner): void {
    const taken = this.#taken.get(source);
    this.#taken.delete(source);
    this.#left = this.#left.filter((one) => one !== taken);
  }

  /** Closes what nobody took. */
  async close(): Promise<void> {
    const left = this.#left;
    this.#left = [];
    for (const { from, handover } of left) {
      try {
        await handover.close();
      } catch (error) {
        this.#log.error({ affected: from.name, reason: reasonOf(error) }, "closing what a replaced source left failed");
      }
    }
  }
}

async function handedOver({ source }: Owner, grace: AbortSignal): Promise<Handover | undefined> {
  return await source.handOver?.(grace);
}

function isSameKind(one: Owner, other: Owner): boolean {
  return one.node.definition === other.node.definition;
}

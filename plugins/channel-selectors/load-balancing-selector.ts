import type { ChannelSelector, Selection } from "deneb/sdk";
import type { LoadBalancingConfig } from "./config.js";

/** A number from 0 up to but not including 1. */
export type Random = () => number;

/** Gives every event to one channel of the source. */
export class LoadBalancingSelector implements ChannelSelector {
  readonly #selections: readonly Selection[];
  readonly #policy: LoadBalancingConfig["policy"];
  readonly #random: Random;
  #turn = 0;

  constructor({ policy }: LoadBalancingConfig, channels: readonly string[], random: Random) {
    this.#selections = channels.map((channel) => ({ required: [channel], optional: [] }));
    this.#policy = policy;
    this.#random = random;
  }

  select(): Selection {
    return this.#selections[this.#index()] ?? nothing;
  }

  #index(): number {
    const { length } = this.#selections;
    if (this.#policy === "random") return Math.floor(this.#random() * length);
    const turn = this.#turn;
    this.#turn = (turn + 1) % length;
    return turn;
  }
}

const nothing: Selection = { required: [], optional: [] };

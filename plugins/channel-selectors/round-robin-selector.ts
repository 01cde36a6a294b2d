import type { ChannelSelector, Selection } from "deneb/sdk";
import { channelsOf } from "./channels-of.js";
import type { RoundRobinConfig } from "./config.js";

/** Gives every event to each storage once, by the channel of that storage whose turn it is. */
export class RoundRobinSelector implements ChannelSelector {
  readonly #storages: readonly (readonly string[])[];
  #turn = 0;

  constructor({ "storages.*": lists }: RoundRobinConfig) {
    this.#storages = Object.values(lists).map(channelsOf);
  }

  select(): Selection {
    const turn = this.#turn;
    this.#turn = (turn + 1) % Number.MAX_SAFE_INTEGER;
    const chosen = this.#storages.flatMap((channels) => channels[turn % channels.length] ?? []);
    return { required: [...new Set(chosen)], optional: [] };
  }
}

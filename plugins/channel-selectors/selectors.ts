import type { ChannelSelector, Event, Selection, SelectorContext } from "deneb/sdk";
import {
  channelsOf,
  type LoadBalancingConfig,
  type MultiplexingConfig,
  type ReplicatingConfig,
  type RoundRobinConfig,
} from "./config.js";

export function createReplicatingSelector(config: ReplicatingConfig, { channels }: SelectorContext): ChannelSelector {
  const isOptional = new Set(config.optional);
  const selection = {
    required: channels.filter((channel) => !isOptional.has(channel)),
    optional: channels.filter((channel) => isOptional.has(channel)),
  };
  return { select: () => selection };
}

/** Chooses by the value of a header, compared exactly. */
export class MultiplexingSelector implements ChannelSelector {
  readonly #header: string;
  readonly #byValue: ReadonlyMap<string, Selection>;
  readonly #otherwise: Selection;

  constructor({ header, mapping, optional, default: otherwise }: MultiplexingConfig) {
    this.#header = header.toLowerCase();
    const selectionOf = (value: string): Selection => {
      const list = Object.hasOwn(mapping, value) ? mapping[value] : undefined;
      const required = list === undefined ? [...new Set(otherwise)] : channelsOf(list);
      const further = Object.hasOwn(optional, value) ? channelsOf(optional[value] ?? "") : [];
      return { required, optional: further.filter((channel) => !required.includes(channel)) };
    };
    const values = new Set([...Object.keys(mapping), ...Object.keys(optional)]);
    this.#byValue = new Map([...values].map((value) => [value, selectionOf(value)]));
    this.#otherwise = { required: [...new Set(otherwise)], optional: [] };
  }

  select({ headers }: Event): Selection {
    const value = Object.hasOwn(headers, this.#header) ? headers[this.#header] : undefined;
    return (value === undefined ? undefined : this.#byValue.get(value)) ?? this.#otherwise;
  }
}

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

/** A number from 0 up to but not including 1. */
type Random = () => number;

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

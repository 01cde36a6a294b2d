import type { ChannelSelector, Event, Selection } from "deneb/sdk";
import { channelsOf } from "./channels-of.js";
import type { MultiplexingConfig } from "./config.js";

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

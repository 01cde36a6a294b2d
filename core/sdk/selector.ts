import type { Event } from "./event.js";

/** Names of channels. The notification is refused when a required one fails; a failing optional one is only logged. */
export interface Selection {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** Chooses the channels of each event among those of its source. */
export interface ChannelSelector {
  select(event: Event): Selection;
}

import type { Event } from "deneb/sdk";

export interface HeaderText {
  /** In lower case. */
  readonly name: string;
  readonly text: string;
  /** Keep a text that is there. */
  readonly preserve: boolean;
}

/** The event with one header more, or another text in it. */
export function withHeader(event: Event, { name, text, preserve }: HeaderText): Event {
  if (preserve && Object.hasOwn(event.headers, name)) return event;
  return { ...event, headers: { ...event.headers, [name]: text } };
}

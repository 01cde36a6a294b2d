import type { BodyFormat } from "../bench/forms.js";

/** Work in which everything happens in one order, so that its counts are the same each time. */
export interface GuardCase {
  readonly name: string;
  readonly channel: "memory" | "file";
  readonly format: BodyFormat;
  /** Notifications that are sent before the next waits for their rows; as many are one batch. */
  readonly group: 1 | 100;
}

const named = (one: Omit<GuardCase, "name">): GuardCase => ({
  ...one,
  name: `${one.channel} channel, ${one.group === 1 ? "one by one" : `groups of ${one.group}`}, ${one.format}`,
});

export const guardCases: readonly GuardCase[] = [
  named({ channel: "memory", group: 1, format: "ld" }),
  named({ channel: "file", group: 1, format: "ld" }),
  ...(["memory", "file"] as const).flatMap((channel) =>
    (["ld", "ld-pretty", "v2"] as const).map((format) => named({ channel, group: 100, format })),
  ),
];

import type { ConfigurationFault } from "../configuration-fault.js";
import type { Setting } from "../file/settings.js";
import type { Removed } from "../predecessor/old-agent.js";
import type { LineEdit } from "./line-edits.js";

type NumberedEdit = readonly [line: number, edit: LineEdit];

/** What a fault says of lines without effect. */
export function unreadOf({ key, reason, unread }: ConfigurationFault): readonly Removed[] {
  return unread === undefined ? [] : [{ key, reason, isLoss: unread === "here-only" }];
}

/** Comments of all settings at and below the keys, the first of each with the reason. */
export function comments(settings: readonly Setting[], removed: readonly Removed[]): readonly NumberedEdit[] {
  return removed.flatMap(({ key, reason }) => {
    const lines = settings
      .filter((setting) => setting.key === key || setting.key.startsWith(`${key}.`))
      .flatMap(({ line }) => (line === undefined ? [] : [line]))
      .toSorted((a, b) => a - b);
    return lines.map((line, at) => [line, { dropped: at === 0 ? `${key}: ${reason}` : "" }] as const);
  });
}

/** Comments of the lines whose key is given again further down. */
export function overriddenComments(overridden: readonly Setting[]): readonly NumberedEdit[] {
  return overridden.flatMap(({ key, line }) =>
    line === undefined ? [] : [[line, { dropped: `${key}: is given again below` }] as const],
  );
}

/** The lists of names as they are without those that are left out; a list without names becomes a comment. */
export function shorterLists(before: readonly Setting[], after: readonly Setting[]): readonly NumberedEdit[] {
  const values = new Map(after.map(({ key, value }) => [key, value]));
  return before.flatMap(({ key, value, line }) => {
    const now = values.get(key);
    if (now === undefined || now === value || line === undefined) return [];
    const edit = now === "" ? { dropped: `${key}: names nothing that is used` } : { value: now };
    return [[line, edit] as const];
  });
}

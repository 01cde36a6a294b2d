import { RejectedRequest } from "deneb/sdk";

/** What is wrong with a request, as the counters of refusals name it, with the statuses of its answers. */
const statuses = {
  content: [400],
  "content-encoding": [415],
  "content-type": [400],
  limit: [400, 413],
  method: [400, 405],
  "no-content": [400],
  "not-a-notification": [400],
  service: [400],
  "service-path": [400],
  target: [400],
} as const;

export type RefusalKind = keyof typeof statuses;

/** All that the handler refuses. */
export const ngsiRefusals = Object.entries(statuses).flatMap(([cause, all]) =>
  all.map((status) => ({ status, cause })),
);

/** The refusal with this message, in which characters that a terminal or log would hide are made visible. */
export function refused(
  kind: RefusalKind,
  message: string,
  {
    status = 400,
    headers = {},
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): RejectedRequest {
  return new RejectedRequest(status, message.replace(hidden, escaped), headers, undefined, kind);
}

const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function escaped(character: string): string {
  const hex = character.codePointAt(0)?.toString(16) ?? "";
  return `\\u{${hex}}`;
}

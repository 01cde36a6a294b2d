import { RejectedRequest } from "deneb/sdk";

/** What is wrong with a request, as the counters of refusals name it. */
export type RefusalKind =
  | "content"
  | "content-type"
  | "limit"
  | "method"
  | "no-content"
  | "not-a-notification"
  | "service"
  | "service-path"
  | "target";

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

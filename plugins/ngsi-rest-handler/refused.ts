import { RejectedDelivery } from "deneb/sdk";

/** The refusal with this message, in which characters that a terminal or log would hide are made visible. */
export function refused(status: number, message: string, headers?: Readonly<Record<string, string>>): RejectedDelivery {
  return new RejectedDelivery(status, message.replace(hidden, escaped), headers);
}

const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function escaped(character: string): string {
  const hex = character.codePointAt(0)?.toString(16) ?? "";
  return `\\u{${hex}}`;
}

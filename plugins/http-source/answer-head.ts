import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";

/** Throws for what HTTP does not know, as Node's own answers do. */
export function statusLine(status: number): string {
  if (Number.isInteger(status) && status >= 200 && status <= 999) {
    return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`;
  }
  throw new RangeError(`${status} is no HTTP status`);
}

export function headerLines(fields: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const [name, value] of Object.entries(fields)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

let date = { second: Number.NaN, text: "" };

/** The time of an answer. All answers of a second have the same. */
export function dateText(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() };
  return date.text;
}

import { causesOf } from "./causes.js";
import { codeOf } from "./errors.js";

/** The code of what caused an error in the end, such as that of a driver; undefined where it has no cause with one. */
export function lastCodeOf(error: unknown): string | undefined {
  const [, ...causes] = causesOf(error);
  return causes.map(codeOf).findLast((code) => code !== undefined);
}

/** A code where only words may stand, as in labels and spans: those of plugins and drivers can be any text. */
export function codeLabel(code = "unknown"): string {
  return /^\w{1,64}$/.test(code) ? code : "other";
}

import { causesOf } from "../sdk/causes.js";

const MOST_PLACES = 3;
const deneb = new URL("../", import.meta.url).href;

/** Where in the plugin the error, or what caused it, was made. */
export function placesOf(error: unknown): readonly string[] {
  const lines = causesOf(error).flatMap(linesOf);
  const own = lines.filter((line) => line.startsWith("at ") && line.includes("file:") && !line.includes(deneb));
  return own.slice(0, MOST_PLACES);
}

/** Somebody may give the stack another type. */
function linesOf(error: unknown): readonly string[] {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  return typeof stack === "string" ? stack.split("\n").map((line) => line.trim()) : [];
}

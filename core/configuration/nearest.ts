import { closest, distance } from "fastest-levenshtein";

/** The known name that was probably meant: one that has it as its first or last part, or a few letters away in any letter case. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  const prefixed = known.find((candidate) => {
    const lower = candidate.toLowerCase();
    return lower.endsWith(`.${written}`) || lower.startsWith(`${written}.`);
  });
  if (prefixed !== undefined || known.length === 0) return prefixed;
  const best = closest(
    written,
    known.map((candidate) => candidate.toLowerCase()),
  );
  if (distance(written, best) > Math.ceil(written.length / 3)) return undefined;
  return known.find((candidate) => candidate.toLowerCase() === best);
}

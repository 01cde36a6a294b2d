/** Whether the month has such a day: `Date.parse` reads 2026-02-30 as the second of March. */
export function isDay(date: string): boolean {
  const instant = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(date);
}

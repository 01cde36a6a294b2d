const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * A time that somebody gives, in ISO 8601; without a zone it is in UTC, as rows and logs show times, and not in the zone of the
 * process that happens to read it. Invalid for what is none, and for a day that does not exist.
 */
export function givenTime(text: string): Date {
  const [, day, clock = "00:00", zone = "Z"] = TIME.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00:00Z`);
  // Otherwise February 30 would be the second of March.
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(String(day));
  return new Date(exists ? `${day}T${clock}${zone}` : Number.NaN);
}

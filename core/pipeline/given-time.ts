import { isDay } from "../sdk/calendar.js";

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * A time that somebody gives, in ISO 8601; without a zone it is in UTC, as rows and logs show times, and not in the zone of the
 * process that happens to read it. Invalid for what is none, and for a day that does not exist.
 */
export function givenTime(text: string): Date {
  const [, day, clock = "00:00", zone = "Z"] = TIME.exec(text) ?? [];
  return new Date(day !== undefined && isDay(day) ? `${day}T${clock}${zone}` : Number.NaN);
}

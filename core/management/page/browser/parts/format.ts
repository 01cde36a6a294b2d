/** Numbers and times as text, short enough for a card. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function count(number: number | undefined): string {
  return number === undefined ? "–" : whole.format(number);
}

/** A count of at most five characters: 12,345 becomes 12.3K. */
export function shortCount(number: number | undefined): string {
  if (number === undefined) return "–";
  return Math.abs(number) < 10_000 ? whole.format(number) : short.format(number);
}

/** `12.3`, `0.25`, `1.2K`. */
export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return "–";
  if (perSecond >= 1000) return short.format(perSecond);
  if (perSecond === 0 || perSecond >= 100) return whole.format(perSecond);
  return String(Number(perSecond.toPrecision(perSecond < 1 ? 2 : 3)));
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

export function bytes(number: number | undefined): string {
  if (number === undefined) return "–";
  const step = number < 1024 ? 0 : Math.min(Math.floor(Math.log2(number) / 10), sizes.length - 1);
  const value = number / 1024 ** step;
  return `${value >= 100 || step === 0 ? Math.round(value) : Number(value.toPrecision(3))} ${sizes[step]}`;
}

const units = [
  { name: "d", seconds: 86_400 },
  { name: "h", seconds: 3600 },
  { name: "min", seconds: 60 },
  { name: "s", seconds: 1 },
] as const;

/** `45 s`, `3 min 20 s`, `2 h 5 min`, `12 d`. */
export function duration(seconds: number): string {
  const rest = Math.max(0, Math.round(seconds));
  const index = units.findIndex((unit) => rest >= unit.seconds);
  const unit = units[index];
  if (unit === undefined) return "0 s";
  const smaller = units[index + 1];
  const many = Math.floor(rest / unit.seconds);
  const left = smaller === undefined ? 0 : Math.floor((rest % unit.seconds) / smaller.seconds);
  const isLong = unit.name === "d" && many >= 10;
  return smaller === undefined || left === 0 || isLong
    ? `${many} ${unit.name}`
    : `${many} ${unit.name} ${left} ${smaller.name}`;
}

/** The same with the largest unit alone: `26 min`. */
export function shortDuration(seconds: number): string {
  return duration(seconds).split(" ", 2).join(" ");
}

/** Seconds from one time to another; undefined when one is not a time. */
export function secondsBetween(from: string | undefined, to: string): number | undefined {
  const seconds = (Date.parse(to) - Date.parse(from ?? "")) / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** A time in the zone of the reader, with the date unless it is today. */
export function moment(time: string | undefined): string {
  const date = new Date(time ?? "");
  if (Number.isNaN(date.getTime())) return "–";
  const clock = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString() ? clock : `${dayOf(date)} ${clock}`;
}

/** Local, because a reader compares it with the clock on the wall; written as ISO 8601 writes it. */
function dayOf(date: Date): string {
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** `1 event`, `2 events`. */
export function many(number: number, one: string, others = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : others}`;
}

/** A value of a setting as text. */
export function settingText(value: unknown): string {
  if (Array.isArray(value)) return value.map(settingText).join(" ");
  if (value === undefined || value === null) return "(none)";
  if (value === "") return "(empty)";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

import { writeFiles } from "../support/written-files.js";

const DAY = 86_400_000;
const MONTHS_AGO = 90 * DAY;
/** December and the first days of January. */
const OLD_DAYS = 36;
const DATE = "2025-12-31".length;

/** A row as the test reads it; `partition` is the name of the one that it is in. */
export interface PartitionedRow {
  readonly number: number;
  readonly partition: string;
}

/** December and January, as seen from the day of the test, which is later. */
export interface ChangeOfYear {
  /** The time of the notification with this number, in the order of no clock. */
  timeOf(number: number): string;
  /** Rows of December and of the first days of January are older than that. */
  readonly retentionDays: number;
}

/** Each day at its first and last millisecond and in between, and times that no clock is meant to show. */
export function changeOfYear(now: Date): ChangeOfYear {
  const before = new Date(now.getTime() - MONTHS_AGO);
  const first = Date.UTC(before.getUTCFullYear() - 1, 11);
  const days = Array.from({ length: 62 }, (_, day) => first + day * DAY);
  const times = [
    ...days.flatMap((day) => [day, day + DAY / 2, day + DAY - 1]),
    Date.UTC(1999, 11, 31, 23),
    Date.UTC(2100, 0, 1),
  ].map((time) => new Date(time).toISOString());
  return {
    // 37 has no factor in common with the number of times.
    timeOf: (number) => times[(number * 37) % times.length] ?? "",
    retentionDays: Math.floor((now.getTime() - first) / DAY) - OLD_DAYS,
  };
}

/** Writes a plugin that gives each event its time, and returns what runs it. */
export async function clockOf(folder: string, { timeOf }: ChangeOfYear) {
  const times = Array.from({ length: 188 }, (_, number) => Date.parse(timeOf(number)));
  const text = `
    import { definePlugin } from "deneb/sdk";
    const times = ${JSON.stringify(times)};
    const numberOf = ({ attributes }) => Number(attributes.find(({ name }) => name === "number").value.text);
    const intercept = ({ headers, body }) =>
      ({ headers: { ...headers, timestamp: String(times[numberOf(body) % times.length]) }, body });
    export default definePlugin({
      kind: "interceptor", type: "clock", summary: "Gives times.", stability: "stable", config: {},
      create: () => ({ intercept }),
    });`;
  await writeFiles(folder, { "plugins/clock/index.mjs": text });
  return {
    flags: ["--plugins", `${folder}/plugins`],
    lines: [
      "deneb.sources.http-source.interceptors = clock",
      "deneb.sources.http-source.interceptors.clock.type = clock",
    ],
  };
}

const ENDS = {
  day: (year: number, month: number, day: number) => Date.UTC(year, month, day + 1),
  month: (year: number, month: number) => Date.UTC(year, month + 1),
} as const;

/** The end of the times that a partition takes, by its name. */
export function endOf(partition: string, period: keyof typeof ENDS): number {
  if (partition.endsWith("early")) return Date.UTC(2000, 0);
  const [, before, year, month, day] = /(before_|p)(\d{4})_(\d\d)_(\d\d)$/.exec(partition) ?? [];
  if (before === undefined) return Number.POSITIVE_INFINITY;
  const date = [Number(year), Number(month) - 1, Number(day)] as const;
  return before === "p" ? ENDS[period](...date) : Date.UTC(...date);
}

/** The end of the name of the partition that takes a time. */
export function partitionOf(time: string, period: keyof typeof ENDS): string {
  if (time < "2000") return "early";
  if (time >= "2100") return "late";
  const date = period === "day" ? time.slice(0, DATE) : `${time.slice(0, DATE - 2)}01`;
  return `p${date.replaceAll("-", "_")}`;
}

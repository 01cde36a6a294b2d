import { agentCase, type BenchCase, bareSocketOf } from "./case.js";
import { type BodyFormat, bodyFormats, forms } from "./forms.js";
import type { Measurement } from "./measure.js";
import { medianOf, ratio } from "./medians.js";
import { notificationBodies } from "./notifications.js";
import { requestsOf } from "./requests.js";
import type { BenchResults } from "./result.js";
import { figure, type Sheet } from "./sheet.js";

/** A channel with bodies of one form, to the bare socket that gets the same bodies. */
export interface ChannelRatios {
  /** Notifications stored to requests answered. */
  readonly stored: number | undefined;
  /** CPU time of the agent for one event to that of the bare socket for one request. */
  readonly cpu: number | undefined;
}

/** One form: all figures are medians of one run of the harness. */
export interface FormRatios {
  readonly words: string;
  /** Absent for recorded requests. */
  readonly format?: BodyFormat;
  readonly bytes: number;
  readonly bare: number | undefined;
  readonly memory: ChannelRatios;
  readonly file: ChannelRatios;
}

/** Of each form that was measured, and of each file of recorded requests. */
export function formRatios(results: BenchResults): readonly FormRatios[] {
  const recorded = results.cases.flatMap(({ subject }) =>
    subject.system === "bare-socket" && "recorded" in subject.bodies ? [recordedOf(results, subject)] : [],
  );
  const made = bodyFormats.map((format) => madeOf(results, format));
  return [...made, ...recorded].filter(({ memory, file }) => (memory.stored ?? file.stored) !== undefined);
}

function madeOf(results: BenchResults, format: BodyFormat): FormRatios {
  const setup = { database: "postgresql", batchSize: 1, entities: 100, format } as const;
  const bare = bareSocketOf(format).name;
  const [body = ""] = notificationBodies({ format, entities: 100 });
  const each = forms[format].perNotification;
  return {
    words: forms[format].words || "compact NGSI-LD",
    format,
    bytes: Buffer.byteLength(body),
    bare: medianOf(results, bare, accepted),
    memory: ratiosOf(results, bare, agentCase({ ...setup, channel: "memory" }).name, each),
    file: ratiosOf(results, bare, agentCase({ ...setup, channel: "file" }).name, each),
  };
}

function recordedOf(results: BenchResults, { name, bodies }: BenchCase): FormRatios {
  const words = name.slice(name.indexOf("recorded "));
  const agent = (channel: BenchCase["channel"]) =>
    results.cases.find(
      ({ subject }) => subject.system === "agent" && subject.channel === channel && subject.name.endsWith(words),
    )?.subject.name ?? "";
  const requests = requestsOf(bodies, "");
  const bytes = requests.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) / requests.length;
  const each = requests.reduce((sum, { events }) => sum + events, 0) / requests.length;
  return {
    words,
    bytes,
    bare: medianOf(results, name, accepted),
    memory: ratiosOf(results, name, agent("memory"), each),
    file: ratiosOf(results, name, agent("file"), each),
  };
}

function ratiosOf(results: BenchResults, bare: string, agent: string, each: number): ChannelRatios {
  const cpu = ratio(medianOf(results, agent, microseconds), medianOf(results, bare, microseconds));
  return {
    stored: ratio(
      medianOf(results, agent, (run) => run.storedPerSecond),
      medianOf(results, bare, accepted),
    ),
    cpu: cpu === undefined ? undefined : cpu / each,
  };
}

const accepted = (run: Measurement) => run.acceptedPerSecond;
const microseconds = (run: Measurement) => run.agentMicroseconds;

/** A row for each form. */
export function formSheet(ratios: readonly FormRatios[]): Sheet {
  const times = (value: number | undefined) => (value === undefined ? "" : `${figure(value, 2)}x`);
  return {
    title: "Forms: to the bare socket that gets the same bodies",
    head: ["form", "bytes", "bare node:net/s", "stored/s memory", "file", "CPU of an event memory", "file"],
    rows: ratios.map(({ words, bytes, bare, memory, file }) => [
      words,
      figure(bytes),
      bare === undefined ? "" : figure(bare),
      times(memory.stored),
      times(file.stored),
      times(memory.cpu),
      times(file.cpu),
    ]),
  };
}

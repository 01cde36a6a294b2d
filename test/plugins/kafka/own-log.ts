import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import type { LogPart, LogRecord } from "deneb/log";
import { AgentError } from "deneb/sdk";
import type { KafkaLogConfig } from "../../../plugins/kafka/config.js";
import { KafkaLog } from "../../../plugins/kafka/log/kafka-log.js";
import type { OwnKafka } from "../../support/own-kafka.js";
import { until } from "../../support/until.js";
import { logConfig } from "./kafka-engine.js";

/** A signal that is never aborted. */
export const never = (): AbortSignal => new AbortController().signal;

/** A log that is not open, closed after the test. */
export function ownLog(
  context: TestContext,
  { address }: Pick<OwnKafka, "address">,
  changes: Partial<KafkaLogConfig> = {},
): KafkaLog {
  const topic = `log-${randomBytes(6).toString("hex")}`;
  const log = new KafkaLog(
    logConfig(topic, { bootstrap_servers: [address], partitions: 2, ...changes }),
    'channel "c"',
  );
  context.after(() => log.close(never()));
  return log;
}

/** An open one that waits for an answer for that many milliseconds at most, once its topics are there. */
export async function hastyLog(
  context: TestContext,
  server: Pick<OwnKafka, "address">,
  request_timeout: number,
): Promise<KafkaLog> {
  const topic = `log-${randomBytes(6).toString("hex")}`;
  await ownLog(context, server, { topic }).open(never());
  const log = ownLog(context, server, { topic, request_timeout });
  await until(
    () =>
      log.open(never()).then(
        () => true,
        () => false,
      ),
    Boolean,
  );
  return log;
}

/** All records of a part that has one. */
export async function recordsOf(log: KafkaLog, part: LogPart): Promise<readonly LogRecord[]> {
  const { next = 0 } = (await log.bounds([part])).get(part) ?? {};
  const records: LogRecord[] = [];
  for (let offset = 0; offset < next; ) {
    const read = await log.read(new Map([[part, offset]]), { bytes: 1_000_000, waitMillis: 10_000 }, never());
    const more = read.get(part) ?? [];
    assert.ok(more.length > 0, `reading part ${part} ends at ${offset} of ${next}`);
    records.push(...more);
    offset = (more.at(-1)?.offset ?? 0) + 1;
  }
  return records;
}

export const textsOf = (records: readonly LogRecord[]): readonly string[] =>
  records.map(({ value }) => Buffer.from(value).toString());

/** The error with which something fails, which must be one of the agent. */
export async function failureOf(work: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await work.then(
    () => new Error("it did not fail"),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof AgentError, String(error));
  return error;
}

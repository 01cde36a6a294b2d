import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import type { JetStreamConfig } from "../../../plugins/jetstream/config.js";
import { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { type NatsSettings, natsProgram, type OwnNats, startOwnNats } from "../../support/own-nats.js";
import { answersNats, natsOfTests } from "../../support/provided-nats.js";
import { removeStream } from "./administration.js";

/** The URL of the NATS of the test run; undefined, and the test skipped, without one. */
export async function sharedNats(context: TestContext): Promise<string | undefined> {
  const { host, port } = natsOfTests();
  if (await answersNats({ host, port })) return `nats://${host}:${port}`;
  context.skip("needs NATS");
  return undefined;
}

/** A server of this test alone; undefined, and the test skipped, where none is installed. */
export async function ownNats(context: TestContext, settings?: NatsSettings): Promise<OwnNats | undefined> {
  const program = await natsProgram();
  if (program === undefined) {
    context.skip("needs NATS to be installed");
    return undefined;
  }
  const server = await startOwnNats(program, settings);
  context.after(server.stop);
  return server;
}

export type Overrides = Partial<JetStreamConfig> & { readonly servers: readonly string[] };

export function configOf(overrides: Overrides): JetStreamConfig {
  return {
    stream: nameOfStream(),
    partitions: 2,
    replicas: 1,
    create_stream: true,
    max_bytes: 0,
    username: "",
    password: "",
    token: "",
    credentials_file: "",
    request_timeout: 5000,
    tls_ca_file: "",
    tls_cert_file: "",
    tls_key_file: "",
    tls_verify: true,
    group: "deneb",
    capacity: 10_000_000,
    transactionCapacity: 10_000,
    "keep-alive": 3,
    outcome_timeout: 60,
    session_timeout: 6,
    stall_timeout: 15,
    record_bytes: 131_072,
    prefetch_bytes: 16_777_216,
    trim: true,
    retired_groups: [],
    ...overrides,
  };
}

export function nameOfStream(): string {
  return `deneb-test-${randomBytes(6).toString("hex")}`;
}

/** A log that is closed with the test. */
export function logOf(context: TestContext, overrides: Overrides): JetStreamLog {
  const log = new JetStreamLog(configOf(overrides), 'channel "log"');
  context.after(() => log.close(AbortSignal.timeout(10_000)));
  return log;
}

export interface SharedLog {
  readonly server: string;
  readonly stream: string;
  readonly log: JetStreamLog;
}

/** An open log of its own on the NATS of the test run; undefined, and the test skipped, without one. */
export async function sharedLog(context: TestContext, partitions = 2): Promise<SharedLog | undefined> {
  const server = await sharedNats(context);
  if (server === undefined) return undefined;
  const config = configOf({ servers: [server], partitions });
  context.after(() => removeStream(server, config.stream));
  const log = logOf(context, config);
  await log.open(never());
  return { server, stream: config.stream, log };
}

/** A signal that is never aborted. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

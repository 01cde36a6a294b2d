import { randomBytes } from "node:crypto";
import { TLSSocket } from "node:tls";
import { type Examiner, onAbort, type Probe, type ProbeResult, reasonOf } from "deneb/sdk";
import type { MqttClient } from "mqtt";
import type { MqttConfig } from "./config.js";
import { connectionOptions } from "./connection.js";
import { subscribed } from "./subscription.js";

/**
 * Whether the broker lets this client in, and to its topics. The client has a name and a session of its own, which ends with
 * the probe: with the name of the source the broker would end the connection of an agent that runs.
 */
export function mqttProbes(config: MqttConfig, source: string, examiner: Examiner): readonly Probe[] {
  const { url, username, topics } = config;
  const own = topics.filter((topic) => !topic.startsWith("$share/"));
  const subscribe: Probe = {
    tries: `subscribe to ${own.join(" ")}`,
    run: (signal) => connected({ config, source, signal }, async (client) => await subscribing(client, own)),
  };
  const connect: Probe = {
    tries: `connect to ${url}${username === "" ? "" : ` as "${username}"`}`,
    run: (signal) => connected({ config, source, signal }, async (client) => secured(client, config, examiner)),
    // A subscription to a shared topic would take messages from those who share it.
    next: own.length === 0 ? [] : [subscribe],
  };
  return [connect];
}

interface Connecting {
  readonly config: MqttConfig;
  readonly source: string;
  readonly signal: AbortSignal;
}

async function connected(
  { config, source, signal }: Connecting,
  work: (client: MqttClient) => Promise<ProbeResult>,
): Promise<ProbeResult> {
  const { connect } = await import("mqtt");
  const options = await connectionOptions(config, source);
  const client = connect(config.url, {
    ...options,
    clientId: `deneb-check-${randomBytes(4).toString("hex")}`,
    clean: true,
    reconnectPeriod: 0,
    reconnectOnConnackError: false,
  });
  const stopListening = onAbort(signal, () => client.end(true));
  try {
    const refused = await new Promise<string | undefined>((resolve) => {
      client.on("connect", () => resolve(undefined));
      client.on("error", (error) => resolve(reasonOf(error)));
      client.on("close", () => resolve("the broker closed the connection"));
      client.connect();
    });
    if (refused === undefined) return await work(client);
    return { outcome: "failed", reason: refused, remedy: "check url, username, password and the TLS properties" };
  } finally {
    stopListening();
    await client.endAsync(true).catch(() => undefined);
  }
}

function secured({ stream }: MqttClient, { tls_verify }: MqttConfig, examiner: Examiner): ProbeResult {
  if (!(stream instanceof TLSSocket)) return { outcome: "ok", reason: "without TLS" };
  const certificate = stream.getPeerX509Certificate();
  const { outcome, reason, remedy }: ProbeResult =
    certificate === undefined ? { outcome: "ok" } : examiner.certificate(certificate.raw);
  const checked = tls_verify ? "" : ", not verified (tls_verify = false)";
  const found = [`${stream.getProtocol()}${checked}`, reason].filter((text) => text !== undefined).join("; ");
  return {
    outcome: outcome === "failed" ? "warning" : outcome,
    reason: found,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

/** Messages that come meanwhile are of this session alone, and nobody acknowledges them. */
async function subscribing(client: MqttClient, topics: readonly string[]): Promise<ProbeResult> {
  const { refused } = await subscribed(client, topics, 0);
  if (refused.length === 0) return { outcome: "ok" };
  const remedy = "allow the user to read them at the broker";
  return { outcome: "failed", reason: `the broker refuses ${refused.join(" ")}`, remedy };
}

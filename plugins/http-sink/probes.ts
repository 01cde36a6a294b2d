import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { codeOf, type Examiner, onAbort, type Probe, type ProbeResult, readTlsFiles, reasonOf } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";
import { authorization, connections, readTls } from "./connections.js";
import { send } from "./http-call.js";

/** Whether the server can be reached, by TLS where the url says so, and what it says to the credentials. */
export function httpProbes(config: HttpSinkConfig, name: string, examiner: Examiner): readonly Probe[] {
  const isFixed = !config.url.includes("{{");
  const url = new URL(isFixed ? config.url : config.url.slice(0, config.url.indexOf("{{")));
  const reach: Probe = {
    tries: `connect to ${url.origin}`,
    run: async (signal) => {
      try {
        if (url.protocol === "https:") return await overTls(url, { config, name, examiner }, signal);
        return await plain(url, signal);
      } catch (error) {
        if (codeOf(error) === "CERTIFICATE_UNREADABLE") throw error;
        const remedy = "start the server, or check url and the TLS properties";
        return { outcome: "failed", reason: reasonOf(error), remedy };
      }
    },
  };
  // A path that depends on the event cannot be asked for.
  return [isFixed ? { ...reach, next: [headProbe(url, config, name)] } : reach];
}

async function plain(url: URL, signal: AbortSignal): Promise<ProbeResult> {
  const socket = connect({ host: hostOf(url), port: portOf(url) });
  const stopListening = onAbort(signal, () => socket.destroy(new Error("aborted")));
  try {
    await once(socket, "connect");
    return { outcome: "ok" };
  } finally {
    stopListening();
    socket.destroy();
  }
}

interface TlsParts {
  readonly config: HttpSinkConfig;
  readonly name: string;
  readonly examiner: Examiner;
}

async function overTls(url: URL, { config, name, examiner }: TlsParts, signal: AbortSignal): Promise<ProbeResult> {
  const files = await readTlsFiles(config, `sink "${name}"`, (file) => readFile(file));
  const host = hostOf(url);
  const socket = connectTls({ ...files, host, port: portOf(url), servername: /^[\d.]+$|:/.test(host) ? "" : host });
  const stopListening = onAbort(signal, () => socket.destroy(new Error("aborted")));
  try {
    await once(socket, "secureConnect");
    const certificate = socket.getPeerX509Certificate();
    const { outcome, reason, remedy }: ProbeResult =
      certificate === undefined ? { outcome: "ok" } : examiner.certificate(certificate.raw);
    const checked = config.tls_verify ? "" : ", not verified (tls_verify = false)";
    const found = [`${socket.getProtocol()}${checked}`, reason].filter((text) => text !== undefined).join("; ");
    return {
      outcome: outcome === "failed" ? "warning" : outcome,
      reason: found,
      ...(remedy === undefined ? {} : { remedy }),
    };
  } finally {
    stopListening();
    socket.destroy();
  }
}

function headProbe(url: URL, config: HttpSinkConfig, name: string): Probe {
  return {
    tries: `ask for ${url.origin}${url.pathname} by HEAD, with the credentials of the sink`,
    run: async (signal) => {
      const agent = connections(config, await readTls(config, name));
      try {
        const call = { url, method: "HEAD", headers: { ...authorization(config) }, body: new Uint8Array() };
        const { status } = await send(call, { agent, timeout: config.request_timeout, signal });
        return headResult(status);
      } finally {
        agent.destroy();
      }
    },
  };
}

function headResult(status: number): ProbeResult {
  const reason = `answered ${status}`;
  if (status === 401 || status === 403 || status === 407)
    return { outcome: "warning", reason, remedy: "check bearer_token, username and password" };
  if (status >= 500) return { outcome: "warning", reason, remedy: "see what is wrong with the server" };
  return {
    outcome: "ok",
    reason: status < 300 ? reason : `${reason}; whether it takes data only a request with data shows`,
  };
}

function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$/g, "");
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

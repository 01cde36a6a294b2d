import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { hostname } from "node:os";
import path from "node:path";
import { type FolderState, folderState } from "../../files/folder-state.js";
import { holderOf } from "../../files/lock-note.js";
import {
  AgentError,
  addressText,
  codeOf,
  type Examiner,
  type FolderUse,
  type Probe,
  type ProbeResult,
} from "../../sdk/index.js";

interface ExaminerParts {
  /** The pid of the agent that runs with the file that is examined; undefined when none does. */
  readonly running?: number | undefined;
  now(): Date;
}

/** Makes the probes that many components need. */
export function examiner({ running, now }: ExaminerParts): Examiner {
  return {
    folder: (folder, use = {}) => ({
      tries: `use the folder "${folder}"`,
      run: async () => folderResult(await folderState(folder, use.locked === true), use, running),
    }),
    port: (port, host) => portProbe(port, host),
    certificate: (certificate) => certificateResult(new X509Certificate(certificate), now()),
  };
}

/** Less than this is a full disk. */
const LEAST_BYTES = 1024 * 1024;

async function folderResult(state: FolderState, use: FolderUse, running: number | undefined): Promise<ProbeResult> {
  const { exists, within, heldBy, freeBytes } = state;
  if (heldBy !== undefined) return heldResult(heldBy, running);
  const room = `${bytesText(freeBytes)} free`;
  const found = exists
    ? `mode ${state.mode.toString(8).padStart(4, "0")}, ${room}`
    : `will be made in "${within}", ${room}`;
  if (freeBytes < LEAST_BYTES)
    return { outcome: "failed", reason: found, remedy: "free space there, or give another folder" };
  const { mostBytes = 0 } = use;
  const used = exists && mostBytes > 0 ? await bytesIn(within) : 0;
  if (mostBytes - used > freeBytes) {
    const remedy = "free space there, or lower the limit of the component";
    return { outcome: "warning", reason: `${found}; it may need ${bytesText(mostBytes - used)} more`, remedy };
  }
  const isForeign = process.getuid !== undefined && state.owner !== process.getuid();
  if (exists && use.locked === true && isForeign && (state.mode & OF_OTHERS) !== 0) {
    const remedy = `run the agent as user ${state.owner}, or change the permissions`;
    return {
      outcome: "warning",
      reason: `${found}; other users may read it, and it belongs to user ${state.owner}`,
      remedy,
    };
  }
  return { outcome: "ok", reason: found };
}

const OF_OTHERS = 0o077;

function heldResult(note: string, running: number | undefined): ProbeResult {
  const holder = holderOf(note);
  if (holder !== undefined && holder.pid === running && holder.host === hostname())
    return { outcome: "ok", reason: `the agent that runs with this file holds it (pid ${holder.pid})` };
  const remedy = "stop that process, or give this agent a folder of its own";
  return { outcome: "failed", reason: `another process holds it (${note})`, remedy };
}

async function bytesIn(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(path.join(folder, name))).size);
  const settled = await Promise.allSettled(sizes);
  return settled.reduce((sum, one) => sum + (one.status === "fulfilled" ? one.value : 0), 0);
}

function bytesText(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toPrecision(3)} ${units[power]}`;
}

function portProbe(port: number, host: string): Probe {
  const tries = `listen on ${addressText(host, port)}`;
  if (port === 0) return { tries, run: async () => ({ outcome: "ok", reason: "the system chooses a free port" }) };
  return {
    tries,
    run: async () => {
      const server = createServer();
      try {
        server.listen({ port, host, exclusive: true });
        await once(server, "listening");
        return { outcome: "ok" };
      } catch (cause) {
        const { reason, remedy, code } = portFaults.get(codeOf(cause) ?? "") ?? unknownPortFault;
        throw new AgentError(code, `${reason}; ${remedy}`, { retryable: false });
      } finally {
        if (server.listening) server.close();
      }
    },
  };
}

interface PortFault {
  readonly code: string;
  readonly reason: string;
  readonly remedy: string;
}

const unknownPortFault: PortFault = {
  code: "LISTEN_FAILED",
  reason: "it cannot be listened on",
  remedy: "check the port and the address",
};

const portFaults: ReadonlyMap<string, PortFault> = new Map([
  [
    "EADDRINUSE",
    {
      code: "PORT_IN_USE",
      reason: "another program listens there",
      remedy: "stop that program, or choose another port",
    },
  ],
  ["EACCES", { code: "PORT_FORBIDDEN", reason: "this user may not use the port", remedy: "choose a port above 1023" }],
  [
    "EADDRNOTAVAIL",
    {
      code: "ADDRESS_NOT_AVAILABLE",
      reason: "this machine does not have the address",
      remedy: "give one of its own, or 0.0.0.0 for all",
    },
  ],
]);

const DAY_MILLIS = 86_400_000;
const WARNING_DAYS = 30;

function certificateResult(certificate: X509Certificate, now: Date): ProbeResult {
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  const remedy = "install a new certificate";
  const until = `the certificate is valid until ${new Date(to).toISOString().slice(0, 10)}`;
  if (now.getTime() < from)
    return { outcome: "failed", reason: `the certificate is valid from ${new Date(from).toISOString()} only`, remedy };
  if (now.getTime() >= to)
    return {
      outcome: "failed",
      reason: `the certificate expired on ${new Date(to).toISOString().slice(0, 10)}`,
      remedy,
    };
  const days = Math.floor((to - now.getTime()) / DAY_MILLIS);
  if (days < WARNING_DAYS) return { outcome: "warning", reason: `${until}, ${days} days`, remedy };
  return { outcome: "ok", reason: until };
}

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { readKeptFiles } from "../agent/examination/kept-files.js";
import type { Examinee } from "../agent/examination/probe-runs.js";
import { kernelFiles } from "../agent/kernel-files.js";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import { reasonWithRemedy } from "../files/refused-access.js";
import { sinkOfClass } from "../logging/definitions.js";
import { appendersOf, readLoggingDocument } from "../logging/logging-file.js";
import { checkTls, readSecurity } from "../management/security/read-security.js";
import { unreadableLedger } from "../pipeline/ledger-file.js";
import { counted } from "../sdk/counted.js";
import { codeOf, type Examiner, type Probe } from "../sdk/index.js";

/** What the agent itself needs, and who in it. */
interface OwnProbes extends Examinee {
  readonly probes: readonly Probe[];
}

/** The data directory, the management interface and the log files, with the settings that `run` would have. */
export async function ownProbes(settings: KernelSettings, examiner: Examiner): Promise<readonly OwnProbes[]> {
  return [
    { component: "agent", kind: "agent", type: "agent", probes: dataProbes(settings, examiner) },
    { component: "logging", kind: "agent", type: "logging", probes: await logProbes(settings, examiner) },
    { component: "management", kind: "agent", type: "management", probes: managementProbes(settings, examiner) },
  ];
}

function dataProbes({ dataDir }: KernelSettings, examiner: Examiner): readonly Probe[] {
  const letters = path.join(dataDir, kernelFiles.deadLetters);
  const kept: Probe = {
    tries: "read what earlier runs kept in the data directory",
    run: async () => {
      const { letters: files, ledgerFault } = await readKeptFiles(dataDir);
      if (ledgerFault !== undefined) {
        const kept = unreadableLedger(path.join(dataDir, kernelFiles.ledger));
        const remedy = `correct it, or restore it, before the start; else the ledger begins again, and "${kept}" is what is there`;
        return { outcome: "warning", reason: await reasonWithRemedy(ledgerFault), remedy };
      }
      return files === 0
        ? { outcome: "ok" }
        : { outcome: "ok", reason: `dead letters of ${counted(files, "sink")} among it` };
    },
  };
  return [{ ...examiner.folder(dataDir, { locked: true }), next: [kept, examiner.folder(letters)] }];
}

/** The folders of the appenders that write files. */
async function logProbes({ logging, dataDir }: KernelSettings, examiner: Examiner): Promise<readonly Probe[]> {
  const tries = `read the logging file "${logging}"`;
  try {
    const text = await readFile(logging, "utf8").catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    });
    const { values, invalid } = appendersOf(readLoggingDocument(text));
    const files = values.filter(({ class: name }) => sinkOfClass(name) === "file");
    const folders = new Set(
      files.map(({ file }) => (file === undefined ? path.join(dataDir, "logs") : path.dirname(file))),
    );
    const read: Probe = {
      tries,
      run: async () => {
        if (text === undefined) return { outcome: "ok", reason: "there is none: lines go to standard output" };
        if (invalid.length === 0) return { outcome: "ok" };
        const reason = `appenders without a known class are ignored: ${invalid.join(", ")}`;
        return { outcome: "warning", reason, remedy: "give each a class, console or file" };
      },
    };
    return [{ ...read, next: [...folders].map((folder) => examiner.folder(folder)) }];
  } catch (error) {
    const reason = "it is not used, and lines go to standard output";
    const cause = error instanceof Error ? error.message : String(error);
    return [{ tries, run: async () => ({ outcome: "warning", reason: `${reason}: ${cause}` }) }];
  }
}

function managementProbes(settings: KernelSettings, examiner: Examiner): readonly Probe[] {
  const { managementHost, managementPort } = settings;
  const secrets: Probe = {
    tries: "read the files of tokens and TLS",
    run: async () => {
      const { tls } = readSecurity(settings, (file) => readFileSync(file, "utf8"));
      checkTls(tls);
      return tls === undefined ? { outcome: "ok" } : examiner.certificate(tls.cert);
    },
  };
  return [examiner.port(managementPort, managementHost), secrets];
}

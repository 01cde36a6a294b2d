import path from "node:path";
import { NEWER_FORMAT } from "../../files/format-version.js";
import { refuseUnwritable } from "../../files/refused-access.js";
import { readMarks } from "../../pipeline/crash-watch.js";
import { DeadLetters } from "../../pipeline/dead-letters/dead-letters.js";
import { Erasures } from "../../pipeline/erasures.js";
import { readAccounts } from "../../pipeline/ledger-file.js";
import { codeOf } from "../../sdk/index.js";
import { kernelFiles } from "../kernel-files.js";

/** Milliseconds for the dead letters, of which there may be gigabytes. */
const LONGEST = 3000;

interface KeptFiles {
  /** Files of dead letters that were read, in part where they are large. */
  readonly letters: number;
  /** Why the ledger cannot be read: a start begins it again. */
  readonly ledgerFault?: unknown;
}

/** Reads what earlier runs kept in a data directory, as a start does, and changes nothing. Throws when a start would refuse it. */
export async function readKeptFiles(dataDir: string): Promise<KeptFiles> {
  const at = (name: keyof typeof kernelFiles) => path.join(dataDir, kernelFiles[name]);
  const ledgerFault = await readAccounts(at("ledger")).then(
    () => undefined,
    (error: unknown) => {
      if (codeOf(error) === NEWER_FORMAT) throw error;
      return error;
    },
  );
  await new Erasures(at("erasures")).start();
  readMarks(at("inHand"));
  await refuseUnwritable(at("inHand"));
  const letters = new DeadLetters(at("deadLetters"));
  const until = performance.now() + LONGEST;
  const sinks = await letters.sinks();
  for (const sink of sinks) {
    await refuseUnwritable(letters.fileOf(sink));
    for await (const _letter of letters.written(sink)) if (performance.now() > until) break;
  }
  return { letters: sinks.length, ...(ledgerFault === undefined ? {} : { ledgerFault }) };
}

import path from "node:path";
import { readMarks } from "../../pipeline/crash-watch.js";
import { DeadLetters } from "../../pipeline/dead-letters/dead-letters.js";
import { Erasures } from "../../pipeline/erasures.js";
import { readAccounts } from "../../pipeline/ledger-file.js";
import { kernelFiles } from "../kernel-files.js";

/** Milliseconds for the dead letters, of which there may be gigabytes. */
const LONGEST = 3000;

/**
 * Reads what earlier runs kept in a data directory, as a start does, and changes nothing. Throws when a start would refuse it.
 * Resolves to the number of files of dead letters that were read, in part where they are large.
 */
export async function readKeptFiles(dataDir: string): Promise<number> {
  const at = (name: keyof typeof kernelFiles) => path.join(dataDir, kernelFiles[name]);
  await readAccounts(at("ledger"));
  await new Erasures(at("erasures")).start();
  readMarks(at("inHand"));
  const letters = new DeadLetters(at("deadLetters"));
  const until = performance.now() + LONGEST;
  const sinks = await letters.sinks();
  for (const sink of sinks) {
    for await (const _letter of letters.written(sink)) if (performance.now() > until) break;
  }
  return sinks.length;
}

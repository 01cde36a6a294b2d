import { execFile } from "node:child_process";
import type { Command } from "commander";
import { isRecord, parsedJson } from "../sdk/event.js";
import { AgentError } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { tableText } from "./table.js";

/** The keyword in the package.json of every plugin. */
const KEYWORD = "deneb-plugin";

export function defineSearch(command: Command, { terminal, exitWith }: CommandContext): void {
  command
    .command("search")
    .description("list packages with plugins that the npm of this machine finds")
    .argument("[words...]", "words that a package is about")
    .action((words: readonly string[]) => exitWith(search(words, terminal)));
}

/** `deneb plugins search`: asks `npm search`, with the registry and the settings that npm has. */
async function search(words: readonly string[], terminal: Terminal): Promise<number> {
  const found = packagesIn(await npmSearch(words, terminal));
  if (found.length === 0) {
    terminal.out(`npm finds no package with the keyword ${KEYWORD}${words.length === 0 ? "" : " and these words"}`);
    return exitCodes.success;
  }
  const rows = found.map(({ name, version, date, description }) => [name, version, date, description]);
  terminal.out(tableText(["package", "version", "date", "description"], rows));
  terminal.out("npm install <package> beside the properties file, and --plugin-packages <package>, load one.");
  terminal.out("A plugin has all rights of the agent: look at who publishes it and at what it does first.");
  return exitCodes.success;
}

const LIMIT_MILLIS = 30_000;
const MOST_BYTES = 5_000_000;

function npmSearch(words: readonly string[], terminal: Terminal): Promise<string> {
  // Behind the two hyphens no word is an option.
  const args = ["search", "--json", "--searchlimit=50", "--fetch-retries=0", "--", `keywords:${KEYWORD}`, ...words];
  const options = {
    timeout: LIMIT_MILLIS,
    killSignal: "SIGKILL",
    maxBuffer: MOST_BYTES,
    signal: terminal.stopRequested,
    env: { ...terminal.env },
  } as const;
  return new Promise((resolve, reject) => {
    execFile("npm", args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(searchError(failure(error, stdout, stderr)));
    });
  });
}

function searchError(reason: string): AgentError {
  return new AgentError("SEARCH_FAILED", `searching for plugins with npm: ${reason}`, { retryable: false });
}

interface Failure extends Error {
  readonly code?: string | number | null | undefined;
  readonly killed?: boolean | undefined;
}

function failure({ code, killed = false, name }: Failure, stdout: string, stderr: string): string {
  if (code === "ENOENT") return "npm is not found; install it, it comes with Node, or correct the PATH";
  if (name === "AbortError") return "it was stopped";
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "it answered too much; give more words";
  if (killed) return `it did not answer within ${LIMIT_MILLIS / 1000} seconds; is its registry reachable?`;
  return `it failed: ${told(stdout, stderr)}; see that "npm search" works here`;
}

const LONGEST = 300;

/** What npm says of its failure: the summary in its JSON, else its first line. */
function told(stdout: string, stderr: string): string {
  const answer = parsedJson(stdout);
  const fault = isRecord(answer) ? answer.error : undefined;
  const summary = isRecord(fault) && typeof fault.summary === "string" ? fault.summary : stderr;
  const line = summary.split("\n").find((one) => one.trim() !== "" && !one.startsWith("npm warn"));
  return (line ?? "it does not say why").slice(0, LONGEST);
}

interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly date: string;
  readonly description: string;
}

/** The packages of an answer that have the keyword: a registry may find others, too. */
function packagesIn(answer: string): readonly FoundPackage[] {
  const list = parsedJson(answer);
  if (!Array.isArray(list)) {
    const start = JSON.stringify(answer.slice(0, 60));
    throw searchError(`it answered ${start}, which is no list of packages; is its registry one of packages?`);
  }
  return list
    .filter(isRecord)
    .filter(({ keywords }) => Array.isArray(keywords) && keywords.includes(KEYWORD))
    .map(({ name, version, date, description }) => ({
      name: textOf(name),
      version: textOf(version),
      date: textOf(date).slice(0, 10),
      description: textOf(description).slice(0, LONGEST),
    }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.replaceAll(/\s+/g, " ") : "";
}

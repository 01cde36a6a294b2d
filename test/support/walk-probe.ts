import { renameSync, writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import process from "node:process";

/** One turn of the event loop: the functions that ran in it, by the file of ours that they are in. */
export type Turn = Readonly<Record<string, readonly string[]>>;

/**
 * Loaded into an agent before its program: from SIGUSR2 on it notes in each turn of the event loop which functions ran, by
 * the inspector's precise coverage, until the function named by DENEB_WALK_END ran; then it writes all turns to the file
 * DENEB_WALK_FILE. A file with `.begun` behind that name says that it has begun.
 */
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const [endFile = "", endFunction = ""] = (process.env["DENEB_WALK_END"] ?? "").split("#");
const output = process.env["DENEB_WALK_FILE"] ?? "";

process.on("SIGUSR2", () => {
  const turns: Turn[] = [];
  taken(() => {
    writeFileSync(`${output}.begun`, "");
    note(turns);
  });
});

function note(turns: Turn[]): void {
  taken((scripts) => {
    const turn = Object.fromEntries(scripts.flatMap(calledIn));
    turns.push(turn);
    if (turn[endFile]?.includes(endFunction) === true) written(turns);
    else setImmediate(note, turns);
  });
}

/** As a whole. */
function written(turns: readonly Turn[]): void {
  writeFileSync(`${output}.new`, JSON.stringify(turns));
  renameSync(`${output}.new`, output);
}

/** What ran since the last call; the inspector answers at once. */
function taken(use: (scripts: readonly Profiler.ScriptCoverage[]) => void): void {
  session.post("Profiler.takePreciseCoverage", (error, answer) => {
    if (error !== null) throw error;
    use(answer.result);
  });
}

/** A function that begins with its file is the file itself, when it is loaded. */
function calledIn({ url, functions }: Profiler.ScriptCoverage): readonly (readonly [string, readonly string[]])[] {
  const [, file] = /\/dist\/((?:core|plugins)\/.*)\.js$/.exec(url) ?? [];
  const called = functions.filter(
    ({ ranges: [range] }) => range !== undefined && range.count > 0 && range.startOffset > 0,
  );
  return file === undefined || called.length === 0
    ? []
    : [[`${file}.ts`, called.map(({ functionName }) => functionName)]];
}

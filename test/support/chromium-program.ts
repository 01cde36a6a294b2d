import { installedProgram } from "./installed-program.js";
import type { Servers } from "./servers.js";

/** The program that DENEB_TEST_CHROMIUM names, else one that is installed. */
export async function chromiumProgram(): Promise<string | undefined> {
  const given = process.env["DENEB_TEST_CHROMIUM"];
  if (given !== undefined && given !== "") return given;
  return (await installedProgram("chromium")) ?? (await installedProgram("google-chrome"));
}

const VARIABLE = "DENEB_TEST_BROWSER";

/** Where the browser of this run is reached; undefined without one. */
export function browserOfRun(): string | undefined {
  return process.env[VARIABLE];
}

/** A browser that the test files of a run share, where one is installed; started only for a run that needs it. */
export async function provideChromium(isNeeded: boolean): Promise<Servers> {
  const program = await chromiumProgram();
  if (program === undefined)
    return { remarks: ["Chromium: not installed here"], absent: ["chromium"], stop: async () => {} };
  const remarks = [`Chromium: ${program}`];
  if (!isNeeded) return { remarks, absent: [], stop: async () => {} };
  const { chromium } = await import("playwright-core");
  // The run ends it, also after a signal.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const options = { executablePath: program, args: [...browserFlags], host: "127.0.0.1", ...signals };
  try {
    const server = await chromium.launchServer(options);
    process.env[VARIABLE] = server.wsEndpoint();
    return { remarks, absent: [], stop: () => server.kill() };
  } catch (error) {
    return { remarks: [...remarks, String(error)], absent: ["chromium"], stop: async () => {} };
  }
}

/** Without sandbox, because the tests may run as root; nothing that reaches a network. */
export const browserFlags: readonly string[] = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

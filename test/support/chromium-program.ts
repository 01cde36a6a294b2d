import { installedProgram } from "./installed-program.js";
import type { Servers } from "./servers.js";

/** The program that DENEB_TEST_CHROMIUM names, else one that is installed. */
export async function chromiumProgram(): Promise<string | undefined> {
  const given = process.env["DENEB_TEST_CHROMIUM"];
  if (given !== undefined && given !== "") return given;
  return (await installedProgram("chromium")) ?? (await installedProgram("google-chrome"));
}

/** A line for people on the browser of the tests. */
export async function provideChromium(): Promise<Servers> {
  const program = await chromiumProgram();
  if (program !== undefined) return { remarks: [`Chromium: ${program}`], absent: [], stop: async () => {} };
  return { remarks: ["Chromium: not installed here"], absent: ["chromium"], stop: async () => {} };
}

/** Without sandbox, because the tests may run as root; nothing that reaches a network. */
export const browserFlags: readonly string[] = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

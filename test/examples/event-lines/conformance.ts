import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { markOf, type PluginSetup } from "deneb/sdk/testing";

/** How the conformance suites test this plugin; `deneb plugin test` reads it, too. */
export const setup: PluginSetup = {
  config: (folder) => ({ file: join(folder, "lines.jsonl") }),
  async openStore(folder) {
    const file = join(folder, "lines.jsonl");
    return {
      config: { file },
      readBack: async () => (await linesOf(file)).map((line) => markOf(JSON.parse(line))),
      unreachable: { file: join(folder, "no-such-folder", "lines.jsonl") },
      close: async () => {},
    };
  },
};

async function linesOf(file: string): Promise<readonly string[]> {
  return (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
}

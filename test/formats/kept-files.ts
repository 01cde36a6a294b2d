import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { isRecord } from "../../core/sdk/event.js";
import { repositoryRoot } from "../support/repository.js";

const folder = path.join(repositoryRoot, "test/formats/version-1");

/** The service of all events of the fixture. */
export const SERVICE = "connectfixture";

/** The files of a data directory of version 1, by their path in it. */
export async function keptFiles(): Promise<ReadonlyMap<string, Buffer>> {
  const packed: unknown = JSON.parse(await readFile(path.join(folder, "data.json"), "utf8"));
  if (!isRecord(packed)) throw new Error("data.json holds no files");
  return new Map(Object.entries(packed).map(([name, content]) => [name, unpacked(content)]));
}

function unpacked(content: unknown): Buffer {
  if (isRecord(content) && typeof content["text"] === "string") return Buffer.from(content["text"], "latin1");
  if (isRecord(content) && typeof content["gzip"] === "string")
    return gunzipSync(Buffer.from(content["gzip"], "base64"));
  throw new Error("a file of data.json is neither text nor compressed");
}

/** Makes a data directory of version 1. */
export async function writeKeptFiles(dataDir: string): Promise<void> {
  for (const [name, content] of await keptFiles()) {
    await mkdir(path.dirname(path.join(dataDir, name)), { recursive: true, mode: 0o700 });
    await writeFile(path.join(dataDir, name), content, { mode: 0o600 });
  }
}

/** The statements that make the tables of version 1, one by one. */
export async function keptTables(database: "postgresql" | "mysql" | "sqlite"): Promise<readonly string[]> {
  const text = await readFile(path.join(folder, `${database}.sql`), "utf8");
  return text.split(/;\n/).filter((statement) => statement.trim() !== "");
}

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { repositoryRoot } from "../support/repository.js";
import { apiReport, fingerprint, publicEntries } from "./api-report.js";

for (const entry of publicEntries) {
  const file = join(repositoryRoot, entry.report);
  const text = await apiReport(entry);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  console.log(`${entry.report}: written; the changelog names it ${entry.name} ${fingerprint(text)}`);
}

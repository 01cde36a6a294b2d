import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { repositoryRoot } from "../support/repository.js";
import { apiPage, apiReport, fingerprint, publicEntries } from "./api-report.js";

for (const entry of publicEntries) {
  const file = join(repositoryRoot, entry.report);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, await apiPage(entry));
  console.log(`${entry.report}: written; the changelog names it ${entry.name} ${fingerprint(await apiReport(entry))}`);
}

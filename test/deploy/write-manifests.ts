import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { copiedFiles, manifestFile, plainManifest } from "./chart.js";

// npm run manifests: copies the alert rules and the dashboard into the chart, and renders the manifest for those without Helm.
for (const { from, to } of copiedFiles) {
  await mkdir(path.dirname(to), { recursive: true });
  await copyFile(from, to);
}
await writeFile(manifestFile, await plainManifest());

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

// Loaded by --import into an agent: writes which CommonJS modules the process had loaded when it ended.
const file = process.env["DENEB_TEST_MODULES_FILE"];
const { cache } = createRequire(import.meta.url);

process.on("exit", () => {
  if (file !== undefined) writeFileSync(file, JSON.stringify(Object.keys(cache)));
});

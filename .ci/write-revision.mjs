// Writes dist/revision.json, from which GET /v1/version takes the hash behind the version number.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
writeFileSync(new URL("../dist/revision.json", import.meta.url), `${JSON.stringify({ revision: headHash() })}\n`);

// A tree unpacked from an archive has no history, and a machine may have no git: then the revision is not known.
function headHash() {
  try {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("git", ["rev-parse", "HEAD"], options).trim();
  } catch {
    return "UNKNOWN";
  }
}

// Writes dist/revision.json, from which GET /v1/version takes the hash behind the version number.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
writeFileSync(new URL("../dist/revision.json", import.meta.url), `${JSON.stringify({ revision: headHash() })}\n`);

// A tree unpacked from an archive has no history, and a machine may have no git: then the revision is the one that the
// environment names, or not known. Below the folder of another repository, git would answer for that one.
function headHash() {
  try {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    const [above, hash] = execFileSync("git", ["rev-parse", "--show-cdup", "HEAD"], options).split("\n");
    if (above === "" && hash !== undefined) return hash;
  } catch {}
  return process.env["DENEB_REVISION"] || "UNKNOWN";
}

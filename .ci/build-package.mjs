// What `npm pack` and `npm publish` run first: builds dist anew, so that nothing of an earlier build is packed, and without
// source maps, whose sources are not packed.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

rmSync(join(root, "dist"), { recursive: true, force: true });
run(compiler, "-p", "tsconfig.json", "--sourceMap", "false");
run(compiler, "-p", join("core", "management", "page", "browser"), "--sourceMap", "false");
run(join(root, ".ci", "write-entry.mjs"));
run(join(root, ".ci", "write-plugin-names.mjs"));
run(join(root, ".ci", "write-revision.mjs"));
run(join(root, ".ci", "write-bundle.mjs"));

// What they print goes to standard error: npm pack --json writes to standard output.
function run(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
}

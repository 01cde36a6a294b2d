// Prints the bill of materials of the production packages, by `npm sbom` over the lock file: npm run --silent sbom [-- --sbom-format spdx]
//
// `npm sbom --omit=dev` leaves out every production package that a development package needs too. So the development packages
// are taken out of a copy of the lock file first.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const { devDependencies: _packages, ...manifest } = read("package.json");
const lock = read("package-lock.json");
const kept = Object.entries(lock.packages).filter(([name, { dev = false }]) => name !== "" && !dev);
const { devDependencies: _root, ...root } = lock.packages[""];

const parent = mkdtempSync(path.join(tmpdir(), "deneb-sbom-"));
try {
  // npm names the root after its folder.
  const folder = path.join(parent, manifest.name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    path.join(folder, "package-lock.json"),
    JSON.stringify({ ...lock, packages: { "": root, ...Object.fromEntries(kept) } }),
  );
  const options = ["--sbom-format=cyclonedx", "--sbom-type=application", ...process.argv.slice(2)];
  execFileSync("npm", ["sbom", "--package-lock-only", ...options], { cwd: folder, stdio: "inherit" });
} finally {
  rmSync(parent, { recursive: true });
}

function read(name) {
  return JSON.parse(readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), "utf8"));
}

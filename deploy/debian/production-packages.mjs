import { cpSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** Copies the installed packages that the lock file lists for production; of native ones those for glibc. */
export function copyProductionPackages(from, to) {
  const { packages } = JSON.parse(readFileSync(path.join(from, "package-lock.json"), "utf8"));
  for (const [name, { dev = false, optional = false }] of Object.entries(packages)) {
    const folder = path.join(from, name);
    if (name === "" || dev || name.endsWith("-musl")) continue;
    if (existsSync(folder)) cpSync(folder, path.join(to, name), { recursive: true, filter: isOfPackage(folder) });
    else if (!optional) throw new Error(`"${name}" is not installed; run npm ci`);
  }
}

/** Packages inside a package have entries of their own. */
function isOfPackage(folder) {
  const inner = path.join(folder, "node_modules");
  return (name) => name !== inner && !/\.map$|\.d\.[mc]?ts$/.test(name);
}

// Writes dist/plugins/names.json: the names of the plugins in each folder, so that an agent loads those that its properties
// file names before it starts, and the others after that.
import { existsSync, readdirSync, writeFileSync } from "node:fs";

const plugins = new URL("../dist/plugins/", import.meta.url);
const folders = readdirSync(plugins).filter((name) => existsSync(new URL(`${name}/index.js`, plugins)));

const names = {};
for (const folder of folders.sort()) {
  const { default: exported } = await import(new URL(`${folder}/index.js`, plugins).href);
  names[folder] = [exported].flat().map(({ kind, type, aliases = [] }) => ({ kind, names: [type, ...aliases] }));
}
writeFileSync(new URL("names.json", plugins), `${JSON.stringify(names)}\n`);

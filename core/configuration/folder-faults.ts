import path from "node:path";
import type { Fault } from "./fault.js";
import { errorAt } from "./fault-at.js";
import type { Resource } from "./resources.js";

/** A fault for each folder that another component uses too, or that lies in one of another component. */
export function folderFaults(resources: readonly Resource[]): readonly Fault[] {
  const used = resources.filter(({ kind }) => kind === "folder").flatMap(foldersOf);
  return used.flatMap(({ folder, resource: { owner, place } }, at) => {
    const other = used.slice(0, at).find((one) => one.resource.owner !== owner && overlap(one.folder, folder));
    if (other === undefined) return [];
    const same = other.folder === folder;
    const what = same ? `is a folder of "${other.resource.owner}" too` : `overlaps "${other.folder}"`;
    const whose = same ? "" : `, a folder of "${other.resource.owner}"`;
    return [errorAt({ ...place, value: folder }, `${what}${whose}; give each component folders of its own`)];
  });
}

function foldersOf(resource: Resource) {
  const listed: readonly unknown[] = Array.isArray(resource.value) ? resource.value : [resource.value];
  return listed.flatMap((folder) =>
    typeof folder === "string" && folder !== "" ? [{ folder: path.resolve(folder), resource }] : [],
  );
}

function overlap(one: string, other: string): boolean {
  return [path.relative(one, other), path.relative(other, one)].some(
    (way) => way === "" || (way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)),
  );
}

import { readFileSync } from "node:fs";

/** `<version>.<revision>`: the version of package.json and the source revision that the build wrote down. */
export function readVersion(packageFile: URL, revisionFile: URL): string {
  return `${textMember(packageFile, "version")}.${textMember(revisionFile, "revision")}`;
}

function textMember(file: URL, member: string): string {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    const value: unknown = typeof content === "object" && content !== null ? Reflect.get(content, member) : undefined;
    return typeof value === "string" ? value : "UNKNOWN";
  } catch {
    return "UNKNOWN";
  }
}

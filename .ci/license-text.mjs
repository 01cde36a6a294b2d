// The license of an installed package, as its license asks for wherever its code is.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Name, version and license of the package in a folder, with the text of each of its notices. */
export function licenseText(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder);
  const notices = files.filter((file) => /^(?:licen[cs]e|notice|copying|copyright)/i.test(file)).sort();
  const texts = notices.length > 0 ? notices.map((file) => read(folder, file)) : [sectionOfReadme(folder, files)];
  if (texts.every((text) => text === undefined))
    throw new Error(`"${folder}" holds no license; leave it out of the bundle`);
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}`;
}

function read(folder, file) {
  return readFileSync(path.join(folder, file), "utf8").trim();
}

/** Some packages have their license at the end of their README. */
function sectionOfReadme(folder, files) {
  const readme = files.find((file) => /^readme/i.test(file));
  return readme === undefined ? undefined : /^#+ *licen[cs]e\b[\s\S]*/im.exec(read(folder, readme))?.[0];
}

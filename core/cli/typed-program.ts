import path from "node:path";

/** How the process was started, as far as a user can start it again so. */
interface StartedAs {
  /** The file that Node was given: of a link its own name, not that of what it points to. */
  readonly file: string;
  readonly path: string | undefined;
  readonly folder: string;
}

/**
 * The words with which a user starts the program again: `deneb` where the shell finds it, `npx deneb` in a folder whose
 * packages have it, else Node with the file.
 */
export function typedProgram({ file, path: search = "", folder }: StartedAs): string {
  const program = path.basename(file);
  const within = path.dirname(file);
  if (program === "deneb" && path.basename(within) === ".bin") return "npx deneb";
  if (program === "deneb" && search.split(path.delimiter).includes(within)) return "deneb";
  if (program !== "deneb" && program !== "main.js") return "deneb";
  const relative = path.relative(folder, file);
  const word = shellWord(relative.startsWith("..") ? file : relative);
  if (program === "main.js") return `node ${word}`;
  return word.includes("/") ? word : `./${word}`;
}

/** As a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

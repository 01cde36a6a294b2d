/**
 * What is wrong where packages are read from archives; undefined elsewhere.
 *
 * @param version - of Yarn Plug'n'Play in this process.
 */
export function plugNPlayFault(version: string | undefined = process.versions["pnp"]): string | undefined {
  if (version === undefined) return undefined;
  return (
    "Yarn Plug'n'Play is in this process, and takes calls for files from Node that channels need; " +
    'set "nodeLinker: node-modules" in .yarnrc.yml and install again'
  );
}

/** What is wrong where packages are read from archives; undefined elsewhere. */
export function plugNPlayFault(): string | undefined {
  if (process.versions["pnp"] === undefined) return undefined;
  return (
    "Yarn Plug'n'Play is in this process, and takes calls for files from Node that channels need; " +
    'set "nodeLinker: node-modules" in .yarnrc.yml and install again'
  );
}

/** Variables of the file cygnus_instance_<id>.conf, which the start script of the original reads, and what they are here. */
const instead: ReadonlyMap<string, string> = new Map([
  ["CYGNUS_USER", "start the agent as that user"],
  ["CONFIG_FOLDER", "give --config the whole path"],
  ["CONFIG_FILE", "give --config that file"],
  ["AGENT_NAME", "give it by --name"],
  ["LOGFILE_NAME", "name the file in the logging file"],
  ["ADMIN_PORT", "give it by --management-port"],
  ["POLLING_INTERVAL", "give it by --reload-interval"],
]);

/** The reason against a line of an instance file; undefined for other keys. */
export function ofInstanceFile(key: string): string | undefined {
  const remedy = instead.get(key);
  return remedy === undefined
    ? undefined
    : `is a line of an instance file of the original, which is not read; ${remedy}`;
}

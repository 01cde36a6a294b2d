/** Why a text is no topic filter of MQTT; undefined when it is one. */
export function topicFilterFault(filter: string): string | undefined {
  const levels = filter.split("/");
  const misplaced = levels.find(
    (level, index) =>
      (level.includes("+") && level !== "+") || (level.includes("#") && (level !== "#" || index !== levels.length - 1)),
  );
  if (misplaced === undefined) return undefined;
  return `"${filter}" is no topic filter: + must be a level of its own, # the last level`;
}

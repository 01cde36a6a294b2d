/** What stands in a fault in place of a secret value. */
export const MASK = "***";

const SECRET_NAME = /pass|pwd|secret|token|credential|key$/i;

/** The value, or the mask when the name of an unknown key says that it is a secret. */
export function shownValue(key: string, value: string): string {
  return SECRET_NAME.test(key) ? MASK : value;
}

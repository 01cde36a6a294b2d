/** What stands in a fault in place of a secret value. */
export const MASK = "***";

const SECRET_NAME = /pass|pwd|secret|token|credential|key$/i;

/** Whether the name of an unknown key says that its value is a secret. */
export function isSecretName(key: string): boolean {
  return SECRET_NAME.test(key);
}

/** The value, or the mask when the name of an unknown key says that it is a secret. */
export function shownValue(key: string, value: string): string {
  return isSecretName(key) ? MASK : value;
}

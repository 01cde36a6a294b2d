/** In any place of a name, without its separators. */
const PART =
  /passw(?:or)?d|passphrase|secret|token|credential|apikey|authori[sz]ation|bearer|cookie|privatekey|accesskey/;
const WORDS: ReadonlySet<string> = new Set(["pass", "pwd", "auth", "key", "sig", "signature", "jwt", "otp"]);

/**
 * Whether what is called so in a notification, a query or a form is a secret. The words of the name count: `passengers` and
 * `keyboard` are no secrets, `api_key` and `dbPassword` are.
 */
export function isSecretWord(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return PART.test(words.join("")) || words.some((word) => WORDS.has(word));
}

/** Names of what the kernel keeps in the data directory. */
export const kernelFiles = {
  deadLetters: "dead-letters",
  ledger: "ledger.json",
  inHand: "in-hand",
  erasures: "erasures.json",
} as const;

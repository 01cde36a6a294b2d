/** Messages of the warnings of Node during some work: it warns of more than ten listeners on one signal. */
export async function warningsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const messages: string[] = [];
  const note = ({ message }: Error) => {
    messages.push(message);
  };
  process.on("warning", note);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
    return messages;
  } finally {
    process.off("warning", note);
  }
}

/** Milliseconds between two looks at files that may be replaced. */
const LOOK_MILLIS = 10_000;

/** What is read from files, and who uses it. @beta */
export interface Followed<Content> {
  read(): Promise<Content>;
  /** What was read before, and is in use. */
  readonly first: Content;
  /** Takes what was read where that is something else, as JSON; may throw, and is called again at the next look then. */
  use(content: Content): void;
  /** Called after each look: with what kept the files from being used, or without. */
  looked(error?: unknown): void;
}

/**
 * Reads files again every ten seconds, such as certificates, which others replace while a component runs; files that cannot be
 * used now change nothing. Returns what ends it.
 * @beta
 */
export function followFiles<Content>(followed: Followed<Content>, millis: number = LOOK_MILLIS): () => void {
  let inUse = JSON.stringify(followed.first);
  let isLooking = false;
  let isOver = false;
  const look = async () => {
    const content = await followed.read();
    const text = JSON.stringify(content);
    if (isOver || text === inUse) return;
    followed.use(content);
    inUse = text;
  };
  const timer = setInterval(() => {
    // A network share that is gone may hold up the one before.
    if (isLooking) return;
    isLooking = true;
    const ended = (error?: unknown) => {
      isLooking = false;
      if (!isOver) followed.looked(error);
    };
    look().then(() => ended(), ended);
  }, millis).unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

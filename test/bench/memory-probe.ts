/** Runs inside a probed process: answers each message with its memory in bytes, after collecting the garbage. */
process.on("message", () => {
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.channel?.unref();

/** A promise, and what settles it. */
export function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let settle = () => {};
  const opened = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { opened, open: () => settle() };
}

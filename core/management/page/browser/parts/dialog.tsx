import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogParts {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** A dialog over the page: the browser keeps the focus in it, closes it with Escape, and gives the focus back. */
export function Dialog({ title, children, onClose }: DialogParts) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const { current } = element;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={titleId} onClose={() => element.current !== null && onClose()}>
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="plain" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface ConfirmParts {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The word on the button: `Drop 3 dead letters`. */
  readonly action: string;
  readonly running: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. What was confirmed goes on when it is closed. */
export function Confirm({ title, children, action, running, onConfirm, onClose }: ConfirmParts) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="actions">
        <button type="button" onClick={onClose}>
          {running ? "Close" : "Cancel"}
        </button>
        <button type="button" class="danger" disabled={running} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}

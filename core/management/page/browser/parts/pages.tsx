import { count } from "./format.js";

interface PagesParts {
  readonly of: number;
  readonly size: number;
  /** Index of the first that is shown. */
  readonly start: number;
  readonly onStart: (start: number) => void;
}

/** Buttons to go through a list a page at a time; nothing for a list of one page. */
export function Pages({ of, size, start, onStart }: PagesParts) {
  if (of <= size) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={start === 0} onClick={() => onStart(Math.max(0, start - size))}>
        Previous
      </button>
      <span>
        {count(start + 1)} to {count(Math.min(of, start + size))} of {count(of)}
      </span>
      <button type="button" disabled={start + size >= of} onClick={() => onStart(start + size)}>
        Next
      </button>
    </nav>
  );
}

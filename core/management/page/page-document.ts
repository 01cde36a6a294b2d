import { createHash } from "node:crypto";

interface DocumentParts {
  /** Paths of the modules that are started, in this order. */
  readonly starts: readonly string[];
  /** Paths of all modules that they import, so that the browser requests them at once. */
  readonly modules: readonly string[];
  /** Where the packages are that modules import by name. */
  readonly imports: Readonly<Record<string, string>>;
}

interface PageDocument {
  readonly html: string;
  /** Allows what the document loads, and nothing else. */
  readonly policy: string;
}

/**
 * The document of the page. All its addresses are relative, so that it works behind a proxy that adds a path prefix. The
 * import map must stand in the document: the policy names its hash, and allows no other script in it.
 */
export function pageDocument({ starts, modules, imports }: DocumentParts): PageDocument {
  const relative = Object.fromEntries(Object.entries(imports).map(([name, path]) => [name, `./${path}`]));
  const map = JSON.stringify({ imports: relative });
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Deneb</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page.css">
<script type="importmap">${map}</script>
${modules.map((path) => `<link rel="modulepreload" href="${path}">`).join("\n")}
${starts.map((path) => `<script type="module" src="${path}"></script>`).join("\n")}
</head>
<body>
<noscript>This page needs JavaScript. The same facts: GET /v1/stats, GET /ready, deneb dead-letters list.</noscript>
<div id="page"></div>
</body>
</html>
`;
  return { html, policy: policyWith(map) };
}

function policyWith(map: string): string {
  const hash = createHash("sha256").update(map).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** README.md: what the plugin is for, an example, guarantees and limits. */
export function readmeText(name: string): string {
  return `# ${name}

A sink for Deneb: appends each event as a line of JSON to a file.

\`\`\`properties
agent.sinks.${name}.type = ${name}
agent.sinks.${name}.channel = test-channel
agent.sinks.${name}.file = lines.jsonl
\`\`\`

- Every event is written at least once, in the order of its channel.
- A batch is written as a whole or not at all; a power failure may lose lines that the system had not yet written.
- The file grows for ever.

\`npm test\` builds it and runs the conformance suites.
`;
}

/** Host and port as people write them: `db:5432`, and an address of IPv6 in brackets, `[::1]:5432`. @beta */
export function addressText(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Where a host is: `login.example.org`, `login.example.org:2222`, `[fe80::1]:2222`. */
import { HostAway } from '../host.ts';

export interface Address {
  name: string;
  port: number;
}

const USUAL_PORT = 22;
/** A bare address of IPv6 has colons of its own; with a port it stands in brackets. */
const FORMS = [
  /^\[([0-9A-Fa-f:.%]+)\](?::(\d{1,5}))?$/,
  /^([0-9A-Fa-f]*:[0-9A-Fa-f:.%]*:[0-9A-Fa-f:.%]*)$/,
  /^([^\s:[\]/@]+)(?::(\d{1,5}))?$/,
];

export function readAddress(text: string): Address {
  for (const form of FORMS) {
    const found = form.exec(text);
    if (found === null) continue;
    const port = found[2] === undefined ? USUAL_PORT : Number(found[2]);
    if (port >= 1 && port <= 65_535) return { name: found[1]!.toLowerCase(), port };
  }
  throw new HostAway(
    `${JSON.stringify(text)} is not the name of a host. Give the resource a host like "login.example.org" or "login.example.org:2222".`,
    { needsPerson: true },
  );
}

/** As a known-hosts file writes it. */
export const knownAs = ({ name, port }: Address) => (port === USUAL_PORT ? name : `[${name}]:${port}`);

/** New names for rows that would collide in our tables. The lowest id keeps what it has. */

/**
 * `plate`, `plate (2)`, `plate (3)`: the next one that nobody has.
 *
 *     freeNames([{ id: 1, scope: 7, name: 'a' }, { id: 2, scope: 7, name: 'a' }]) → Map { 2 → 'a (2)' }
 */
export function freeNames(rows: { id: number; scope: number; name: string }[]): Map<number, string> {
  const taken = new Set(rows.map(({ scope, name }) => `${scope} ${name}`));
  const next = new Map<string, number>();
  const changed = new Map<number, string>();
  for (const { id, scope, name } of [...rows].sort((one, other) => one.id - other.id)) {
    const key = `${scope} ${name}`;
    let number = next.get(key);
    if (number === undefined) {
      next.set(key, 2);
      continue;
    }
    while (taken.has(`${key} (${number})`)) number++;
    next.set(key, number + 1);
    taken.add(`${key} (${number})`);
    changed.set(id, `${name} (${number})`);
  }
  return changed;
}

const before = (address: string, tag: string) => {
  const at = address.lastIndexOf('@');
  return at < 0 ? address + tag : address.slice(0, at) + tag + address.slice(at);
};

/** `ann@example.org` → `ann+17@example.org`, for the account 17. `folded` is the address as the database compares it. */
export function freeAddresses(rows: { id: number; email: string; folded: string }[]): Map<number, string> {
  const taken = new Set(rows.map(({ folded }) => folded));
  const seen = new Set<string>();
  const changed = new Map<number, string>();
  for (const { id, email, folded } of [...rows].sort((one, other) => one.id - other.id)) {
    if (!seen.has(folded)) {
      seen.add(folded);
      continue;
    }
    let tag = `+${id}`;
    while (taken.has(before(folded, tag))) tag += `+${id}`;
    taken.add(before(folded, tag));
    changed.set(id, before(email, tag));
  }
  return changed;
}

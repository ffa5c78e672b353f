/** Brings the field of an argument into sight and puts the cursor into it. */
import { keysOf, under } from '../json.ts';

const CONTROLS = 'input, select, textarea, button, [tabindex]';

/** What shows the value at this path; where it is folded away, what holds it. Of two the one that is wrong. */
function fieldAt(place: ParentNode, path: string): HTMLElement | undefined {
  const keys = keysOf(path);
  const paths = keys.map((_, index) => keys.slice(0, index + 1).reduce<string>((up, key) => under(up, key), ''));
  for (const one of paths.reverse()) {
    const found = [...place.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(one)}"]`)];
    const wrong = found.find((field) => field.querySelector('[aria-invalid="true"], .wrong-tag') !== null);
    if (found.length > 0) return wrong ?? found[0];
  }
  return undefined;
}

export function revealField(place: ParentNode, path: string): void {
  const field = fieldAt(place, path);
  if (field === undefined) return;
  field.scrollIntoView({ block: 'center' });
  const wrong = field.querySelector<HTMLElement>('[aria-invalid="true"]');
  (wrong ?? field.querySelector<HTMLElement>(CONTROLS))?.focus({ preventScroll: true });
}

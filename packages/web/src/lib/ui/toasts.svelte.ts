/** Short notices that something went well; they go by themselves. */
const SECONDS = 3;

export interface Toast {
  id: number;
  text: string;
}

let next = 0;
export const toasts = $state<Toast[]>([]);

export function toast(text: string): void {
  const id = next++;
  toasts.push({ id, text });
  setTimeout(() => {
    const index = toasts.findIndex((one) => one.id === id);
    if (index >= 0) toasts.splice(index, 1);
  }, SECONDS * 1000);
}

/**
 * What a worker was told of its slots, and has not answered. It may have read an order and not yet said so when the next one
 * is written: until it answers, it may obey any of them.
 *
 *     const orders = createOrders();
 *     await writeControl(folder, { ...orders.next(2), stop: false });
 *     orders.most(); // 2
 *     orders.answered(order); // by the worker, in its journal
 */
export interface Order {
  /** Numbers of a service that is gone are lower. */
  order: number;
  slots: number;
}

export interface Orders {
  next(slots: number): Order;
  /** Without a number by workers that run since before an update, which are taken at their word. */
  answered(order: number | undefined): void;
  /** The most slots that a worker may take by an order it has not answered. */
  most(): number;
  /** Nobody has read them, or those who did are gone: whoever comes reads the last one. */
  unread(): void;
}

export function createOrders(): Orders {
  let waiting: Order[] = [];
  let number = Date.now();
  return {
    next(slots) {
      number = Math.max(number + 1, Date.now());
      waiting.push({ order: number, slots });
      return waiting.at(-1)!;
    },
    answered(order) {
      waiting = order === undefined ? [] : waiting.filter((one) => one.order > order);
    },
    most: () => Math.max(0, ...waiting.map(({ slots }) => slots)),
    unread: () => void (waiting = waiting.slice(-1)),
  };
}

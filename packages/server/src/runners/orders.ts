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
  // in their order, each with fewer slots than the one before: what asks for no more than a later one does not count
  let waiting: Order[] = [];
  let number = Date.now();
  return {
    next(slots) {
      number = Math.max(number + 1, Date.now());
      const order = { order: number, slots };
      // a worker that never answers is told again and again, for days
      waiting = [...waiting.filter((earlier) => earlier.slots > slots), order];
      return order;
    },
    answered(order) {
      waiting = order === undefined ? [] : waiting.filter((one) => one.order > order);
    },
    most: () => waiting[0]?.slots ?? 0,
    unread: () => void (waiting = waiting.slice(-1)),
  };
}

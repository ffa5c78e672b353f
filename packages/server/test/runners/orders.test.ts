/** What a worker may still come to obey. */
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createOrders } from '../../src/runners/orders.ts';

it('is the most of all that it was told and has not answered, in whatever order it answers', () => {
  const steps = fc.array(fc.oneof(fc.record({ tell: fc.nat(4) }), fc.record({ answer: fc.nat(30) })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(steps, (taken) => {
      const orders = createOrders();
      const told: { order: number; slots: number }[] = [];
      let answered = 0;
      for (const step of taken) {
        if ('tell' in step) told.push(orders.next(step.tell));
        else if (told.length > 0) {
          const { order } = told[step.answer % told.length]!;
          answered = Math.max(answered, order);
          orders.answered(order);
        }
        const open = told.filter(({ order }) => order > answered).map(({ slots }) => slots);
        expect(orders.most()).toBe(Math.max(0, ...open));
      }
    }),
  );
});

it('a worker that is gone obeys nothing, and whoever comes reads the last order', () => {
  const orders = createOrders();
  for (const slots of [3, 2, 1]) orders.next(slots);
  orders.unread();
  expect(orders.most()).toBe(1);
});

it('a worker from before an update is taken at its word', () => {
  const orders = createOrders();
  orders.next(3);
  orders.answered(undefined);
  expect(orders.most()).toBe(0);
});

it('a worker that never answers takes no memory, however long it is told', () => {
  const orders = createOrders();
  for (let turn = 0; turn < 300_000; turn++) orders.next(turn % 2);
  expect(orders.most()).toBe(1);
});

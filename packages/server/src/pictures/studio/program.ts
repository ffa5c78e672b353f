/** The process that reads images and draws pictures: see serve.ts for how it is asked. */
import { serveOrders } from '../../studio/serve.ts';
import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import type { Ask } from '../ask.ts';
import { drawImage } from './image-picture.ts';
import { plateFacts, plateLimits } from './plate-facts.ts';
import { layPlate } from './plate-layout.ts';
import { drawPlate } from './plate-picture.ts';

const asJson = (value: unknown): Made => ({ content: Buffer.from(JSON.stringify(value)), facts: {} });

async function make(ask: Ask, reading: Reading): Promise<Made> {
  switch (ask.kind) {
    case 'image':
      return drawImage(ask, reading);
    case 'plate':
      return drawPlate(await layPlate(ask.plate, reading), ask, reading);
    case 'info':
      return asJson(await plateFacts(await layPlate(ask.plate, reading), reading));
    case 'limits':
      return asJson(await plateLimits(await layPlate(ask.plate, reading), reading));
  }
}

serveOrders(make, { tooLarge: 'This picture needs more memory than pictures may take.' });

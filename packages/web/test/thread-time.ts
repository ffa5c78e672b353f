import { cdp } from 'vitest/browser';

/** Of the protocol by which Chromium is asked about itself, what is used here. */
interface Session {
  send(method: 'Performance.enable', options: { timeDomain: 'threadTicks' }): Promise<unknown>;
  send(method: 'Performance.getMetrics'): Promise<{ metrics: { name: string; value: number }[] }>;
}

/** Until everything that was changed is drawn. */
export const painted = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/**
 * The processor time, in ms, that the page's thread takes for a piece of work and to draw it. Unlike time by the clock, it does
 * not grow when others use the machine, which would count for long work and hardly for short.
 */
export async function threadTimeOf(work: () => unknown): Promise<number> {
  const session = cdp() as Session;
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const now = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ThreadTime')!.value * 1000;
  };
  const before = await now();
  await work();
  await painted();
  return (await now()) - before;
}

